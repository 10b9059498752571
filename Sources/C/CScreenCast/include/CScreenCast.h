#pragma once

// Screens of a Wayland session: the desktop portal, called over D-Bus by sd-bus, and frames by PipeWire. Both libraries
// are loaded when a screen is first requested, by `inlet_cast_load`.
//
// No function here waits for another process. A portal and a stream are each for one thread at a time, which polls
// their descriptors and runs them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Loads the libraries, once a process. Safe on any thread. Returns NULL, or the name of one that is missing or too old;
// no other function may then be called.
const char *inlet_cast_load(void);

// MARK: The portal

// A connection to the session bus, and at most one session of org.freedesktop.portal.ScreenCast on it:
// https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.ScreenCast.html
struct inlet_portal;

// Begins to connect to the session bus, whose address is taken from the environment if NULL. Returns NULL with errno
// without a bus.
struct inlet_portal *inlet_portal_new(const char *address);
// Ends the connection and with it the session and its user interface.
void inlet_portal_free(struct inlet_portal *portal);

// The descriptor and events to poll, and the deadline: a time of CLOCK_MONOTONIC in microseconds.
int inlet_portal_descriptor(struct inlet_portal *portal);
short inlet_portal_events(struct inlet_portal *portal);
uint64_t inlet_portal_due(struct inlet_portal *portal);
// Handles received messages, and sends waiting ones. Returns 0, or a negative errno if the bus is gone.
int inlet_portal_run(struct inlet_portal *portal);

// The requests to the portal, one after another, each after the answer to the previous one. Each returns 0, or a
// negative errno.
int inlet_portal_ask_abilities(struct inlet_portal *portal);
int inlet_portal_create_session(struct inlet_portal *portal);
// Requests one monitor or window, whose allowed kinds are the mask `kinds`. `token` is of a former session, or NULL.
// `remembers` makes the portal give a token for the next one.
int inlet_portal_select(
    struct inlet_portal *portal, uint32_t kinds, uint32_t cursor_mode, bool remembers, const char *token);
// Shows the user a dialog.
int inlet_portal_start(struct inlet_portal *portal);
int inlet_portal_open_remote(struct inlet_portal *portal);

// The answer to the last request.
enum inlet_portal_outcome {
    inlet_portal_pending,
    inlet_portal_done,
    inlet_portal_denied,  // the user declined
    inlet_portal_ended,   // the portal ended it otherwise
    inlet_portal_failed,  // by an error, whose name and text are in `error_name` and `error_text`
};
struct inlet_portal_state {
    enum inlet_portal_outcome outcome;
    // Valid until the next request.
    const char *error_name, *error_text;
    // The portal has ended the session.
    bool is_closed;
    // inlet_portal_ask_abilities. 0 for values that an old portal does not state.
    uint32_t version, kinds, cursor_modes;
    // inlet_portal_start: PipeWire's node, and the token or NULL.
    uint32_t node;
    const char *token;
};
struct inlet_portal_state inlet_portal_look(struct inlet_portal *portal);
// Hands over the descriptor that inlet_portal_open_remote has received; -1 without one.
int inlet_portal_take_remote(struct inlet_portal *portal);

// MARK: The stream

// A PipeWire connection with one stream of pictures in memory.
struct inlet_cast;

// Connects through a descriptor, which is taken over. Requests `most_frames` a second, as a fraction, and memory for
// `buffers` pictures. Returns NULL with errno.
struct inlet_cast *inlet_cast_new(int remote, uint32_t node, uint32_t frames, uint32_t seconds, int buffers);
// Held frames stay valid.
void inlet_cast_free(struct inlet_cast *cast);

// Readable when an event has occurred, until inlet_cast_run, which also returns free memory to the compositor.
int inlet_cast_descriptor(struct inlet_cast *cast);
void inlet_cast_run(struct inlet_cast *cast);
// Sets whether frames should come.
void inlet_cast_set_active(struct inlet_cast *cast, bool is_active);
// Requests an answer from the server, which `answers` counts.
void inlet_cast_ping(struct inlet_cast *cast);

enum inlet_cast_layout { inlet_cast_unknown, inlet_cast_bgr0, inlet_cast_rgb0 };
struct inlet_cast_state {
    // The connection or the stream is gone; `error_text` may have the reason, or is empty. Valid as long as the cast.
    bool is_over;
    const char *error_text;
    uint32_t answers;
    // unknown until the format is agreed on.
    enum inlet_cast_layout layout;
    uint32_t width, height;
    // All memory is held, so that no picture can come.
    bool is_starved;
};
struct inlet_cast_state inlet_cast_look(struct inlet_cast *cast);

// Memory of one picture, which the compositor writes when it is not held.
struct inlet_cast_memory;
struct inlet_cast_frame {
    struct inlet_cast_memory *memory;
    // All readable bytes, and those of the picture's rows in them.
    const void *start;
    size_t size, offset;
    int32_t stride;
    enum inlet_cast_layout layout;
    uint32_t width, height;
    // The visible part, if the compositor states it; else all.
    uint32_t crop_x, crop_y, crop_width, crop_height;
    // The clockwise rotation of the picture, in quarter turns.
    uint32_t quarters;
    // The time when it was drawn, in nanoseconds of CLOCK_MONOTONIC; 0 if the compositor does not state it.
    int64_t time;
};
// Takes the newest picture; older ones are returned. Returns false without a picture. Give the memory back afterwards.
bool inlet_cast_take(struct inlet_cast *cast, struct inlet_cast_frame *frame);
// Gives memory back: the compositor may write it at once. Safe on any thread, also after inlet_cast_free.
void inlet_cast_give_back(struct inlet_cast_memory *memory);
