#pragma once

// Screens of a Wayland session: the desktop portal, asked over D-Bus by sd-bus, and frames by PipeWire. Both libraries
// are loaded when a screen is first asked for, by `inlet_cast_load`.
//
// Nothing here waits for another process. A portal and a stream are each for one thread at a time, which polls their
// descriptors and lets them run.
#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Loads the libraries, once a process. Safe on any thread. Returns NULL, or the name of one that is missing or too old;
// there is nothing to call then.
const char *inlet_cast_load(void);

// MARK: The portal

// A connection to the session bus, and at most one session of org.freedesktop.portal.ScreenCast on it:
// https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.ScreenCast.html
struct inlet_portal;

// Begins to connect to the session bus, whose address NULL takes from the environment. Returns NULL with errno if there
// is none.
struct inlet_portal *inlet_portal_new(const char *address);
// Ends the connection and with it the session, whose user interface goes, too.
void inlet_portal_free(struct inlet_portal *portal);

// What to poll, and until when: a time of CLOCK_MONOTONIC in microseconds.
int inlet_portal_descriptor(struct inlet_portal *portal);
short inlet_portal_events(struct inlet_portal *portal);
uint64_t inlet_portal_due(struct inlet_portal *portal);
// Handles what has arrived, and sends what waits. Returns 0, or a negative errno if the bus is gone.
int inlet_portal_run(struct inlet_portal *portal);

// What is asked of the portal, one after another, each after the answer to the one before. Each returns 0, or a
// negative errno.
int inlet_portal_ask_abilities(struct inlet_portal *portal);
int inlet_portal_create_session(struct inlet_portal *portal);
// Asks for one monitor or window, whose kinds `kinds` has as a mask. `token` is of a former session, or NULL.
// `remembers` has the portal give a token for the next one.
int inlet_portal_select(
    struct inlet_portal *portal, uint32_t kinds, uint32_t cursor_mode, bool remembers, const char *token);
// Shows the user a dialog.
int inlet_portal_start(struct inlet_portal *portal);
int inlet_portal_open_remote(struct inlet_portal *portal);

// The answer to what was asked last.
enum inlet_portal_outcome {
    inlet_portal_pending,
    inlet_portal_done,
    inlet_portal_denied,  // the user said no
    inlet_portal_ended,   // the portal ended it otherwise
    inlet_portal_failed,  // by an error, whose name and text are in `error_name` and `error_text`
};
struct inlet_portal_state {
    enum inlet_portal_outcome outcome;
    // Valid until the next question.
    const char *error_name, *error_text;
    // The portal has ended the session.
    bool is_closed;
    // inlet_portal_ask_abilities. 0 of what an old portal does not say.
    uint32_t version, kinds, cursor_modes;
    // inlet_portal_start: PipeWire's node, and the token or NULL.
    uint32_t node;
    const char *token;
};
struct inlet_portal_state inlet_portal_look(struct inlet_portal *portal);
// Gives up the descriptor that inlet_portal_open_remote has got; -1 if there is none.
int inlet_portal_take_remote(struct inlet_portal *portal);

// MARK: The stream

// A PipeWire connection with one stream of pictures in memory.
struct inlet_cast;

// Connects through a descriptor, which is taken over. `most_frames` a second are asked for, as a fraction, and
// memory for `buffers` pictures. Returns NULL with errno.
struct inlet_cast *inlet_cast_new(int remote, uint32_t node, uint32_t frames, uint32_t seconds, int buffers);
// Frames that are held stay valid.
void inlet_cast_free(struct inlet_cast *cast);

// Readable where something has happened, until inlet_cast_run, which also gives free memory back to the compositor.
int inlet_cast_descriptor(struct inlet_cast *cast);
void inlet_cast_run(struct inlet_cast *cast);
// Whether frames are to come.
void inlet_cast_set_active(struct inlet_cast *cast, bool is_active);
// Has the server answer, which `answers` counts.
void inlet_cast_ping(struct inlet_cast *cast);

enum inlet_cast_layout { inlet_cast_unknown, inlet_cast_bgr0, inlet_cast_rgb0 };
struct inlet_cast_state {
    // The connection or the stream is gone; `error_text` may say why, or is empty. Valid as long as the cast.
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

// Memory of one picture, which the compositor writes when nobody holds it.
struct inlet_cast_memory;
struct inlet_cast_frame {
    struct inlet_cast_memory *memory;
    // All that may be read, and the bytes of the picture's rows in it.
    const void *start;
    size_t size, offset;
    int32_t stride;
    enum inlet_cast_layout layout;
    uint32_t width, height;
    // The part that shows something, if the compositor says so; else all.
    uint32_t crop_x, crop_y, crop_width, crop_height;
    // Quarters by which the picture is to be turned clockwise.
    uint32_t quarters;
    // When it was drawn, in nanoseconds of CLOCK_MONOTONIC; 0 if the compositor does not say.
    int64_t time;
};
// Takes the newest picture that has come; older ones go back. Returns false if there is none. The memory is to be given
// back.
bool inlet_cast_take(struct inlet_cast *cast, struct inlet_cast_frame *frame);
// Gives memory back: the compositor may write it at once. Safe on any thread, also after inlet_cast_free.
void inlet_cast_give_back(struct inlet_cast_memory *memory);

#endif
