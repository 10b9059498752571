#pragma once

// libxcb and those of its extensions that capture a screen. They are found when they are loaded, by `inlet_xcb_load`: a
// process that captures no screen has no use for them.
#ifdef __linux__

#include <stdbool.h>
#include <stdint.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

// Loads the libraries, once a process. Safe on any thread. Returns NULL, or the name of one that is missing or too old;
// there is nothing to call then.
const char *inlet_xcb_load(void);

// Connects to a display; NULL is what `DISPLAY` says. Waits for the server. The connection is to be ended by
// `inlet_xcb_disconnect`, also if it failed, and `screen` is set to the number of a screen.
xcb_connection_t *inlet_xcb_connect(const char *display, int *screen);
void inlet_xcb_disconnect(xcb_connection_t *connection);
// Whether there is no connection any more.
bool inlet_xcb_is_broken(xcb_connection_t *connection);
// Sends what was asked so far.
void inlet_xcb_flush(xcb_connection_t *connection);
// Waits until the server says something, the other descriptor is readable, or that much time has passed.
void inlet_xcb_wait(xcb_connection_t *connection, int other, int64_t nanoseconds);
// Returns the next event or failure, to be freed, or NULL if there is none now.
void *inlet_xcb_next_event(xcb_connection_t *connection);

// What a screen of a server is like.
struct inlet_xcb_screen {
    xcb_window_t root;
    uint16_t width, height;
    // Of a pixel of the root window: its bits, and those of its colours within the number that it is.
    uint8_t depth, bits_per_pixel, scanline_pad;
    bool is_big_endian, is_true_color;
    uint32_t red, green, blue;
};

// Describes a screen of a connection that is up, by its number from 0. Returns false if there is none, or the server
// does not describe its pixels.
bool inlet_xcb_describe(xcb_connection_t *connection, int number, struct inlet_xcb_screen *screen);

// Sends the questions that libxcb asks before the first request of an extension, and would wait for without end.
void inlet_xcb_prefetch(xcb_connection_t *connection);

// The extensions of a server. Waits unless a request that was sent after `inlet_xcb_prefetch` has been answered.
enum inlet_xcb_extension { inlet_xcb_shm, inlet_xcb_xfixes, inlet_xcb_damage, inlet_xcb_randr };

// Returns the first number of an extension's events, or -1 if the server does not have it.
int inlet_xcb_first_event(xcb_connection_t *connection, enum inlet_xcb_extension extension);

// Requests. Each returns its sequence number; those with an answer have it by `inlet_xcb_poll`.
unsigned inlet_xcb_ask_focus(xcb_connection_t *connection);
unsigned inlet_xcb_ask_geometry(xcb_connection_t *connection, xcb_window_t window);
unsigned inlet_xcb_ask_pointer(xcb_connection_t *connection, xcb_window_t root);
unsigned inlet_xcb_ask_cursor(xcb_connection_t *connection);
unsigned inlet_xcb_ask_monitors(xcb_connection_t *connection, xcb_window_t root);
unsigned inlet_xcb_ask_name(xcb_connection_t *connection, xcb_atom_t atom);
unsigned inlet_xcb_ask_versions(xcb_connection_t *connection, bool xfixes, bool damage, bool randr, bool shm);
unsigned inlet_xcb_ask_image(
    xcb_connection_t *connection, xcb_window_t window, int16_t x, int16_t y, uint16_t width, uint16_t height,
    uint32_t segment);
// Takes the descriptor over. `segment` is set to the segment's name.
unsigned inlet_xcb_attach(xcb_connection_t *connection, int descriptor, uint32_t *segment);
void inlet_xcb_detach(xcb_connection_t *connection, uint32_t segment);
void inlet_xcb_watch_size(xcb_connection_t *connection, xcb_window_t root);
// Returns the name of what notes changes of a window.
uint32_t inlet_xcb_watch_damage(xcb_connection_t *connection, xcb_window_t window);
void inlet_xcb_forget_damage(xcb_connection_t *connection, uint32_t damage);

// Looks for the answer of a request without waiting. Returns false if it is not there yet. `answer` is to be freed, or
// NULL if the request failed, whose code is then in `error`, or 0.
bool inlet_xcb_poll(xcb_connection_t *connection, unsigned sequence, void **answer, int *error);

// Makes memory of at least that many bytes that a server can share and nobody can shrink. Returns its descriptor, or -1
// with errno.
int inlet_xcb_make_memory(uint64_t size);

#endif
