#pragma once

// libxcb, and the extensions that a screen capture needs. `inlet_xcb_load` loads them, because most processes capture
// no screen.

#include <stdbool.h>
#include <stdint.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

// Loads the libraries, once per process. Safe on any thread. Returns NULL, or the name of a library that is missing or
// too old; the functions below must not be called then.
const char *inlet_xcb_load(void);

// Connects to a display; NULL means the value of `DISPLAY`. Waits for the server. End the connection with
// `inlet_xcb_disconnect`, even if it failed. `screen` is set to the number of a screen.
xcb_connection_t *inlet_xcb_connect(const char *display, int *screen);
void inlet_xcb_disconnect(xcb_connection_t *connection);
// Whether the connection is broken.
bool inlet_xcb_is_broken(xcb_connection_t *connection);
// Sends the buffered requests.
void inlet_xcb_flush(xcb_connection_t *connection);
// Waits until the server sends something, the other descriptor is readable, or the time has passed.
void inlet_xcb_wait(xcb_connection_t *connection, int other, int64_t nanoseconds);
// Returns the next event or failure, which must be freed; NULL if none has arrived.
void *inlet_xcb_next_event(xcb_connection_t *connection);

// The properties of a server's screen.
struct inlet_xcb_screen {
    xcb_window_t root;
    uint16_t width, height;
    // The properties of the root window's pixels: their bits, and the bit masks of the colours.
    uint8_t depth, bits_per_pixel, scanline_pad;
    bool is_big_endian, is_true_color;
    uint32_t red, green, blue;
};

// Describes a screen by its number, from 0, on an open connection. Returns false if there is no such screen, or the
// server does not describe its pixels.
bool inlet_xcb_describe(xcb_connection_t *connection, int number, struct inlet_xcb_screen *screen);

// Sends the queries that libxcb makes before the first request of an extension, and waits for without a time limit.
void inlet_xcb_prefetch(xcb_connection_t *connection);

// The extensions of a server.
enum inlet_xcb_extension { inlet_xcb_shm, inlet_xcb_xfixes, inlet_xcb_damage, inlet_xcb_randr };

// Returns the number of an extension's first event, or -1 if the server does not have the extension. Waits, unless a
// request that was sent after `inlet_xcb_prefetch` has been answered.
int inlet_xcb_first_event(xcb_connection_t *connection, enum inlet_xcb_extension extension);

// Requests. Each returns its sequence number. `inlet_xcb_poll` gets the answer, if the request has one.
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
// Takes ownership of the descriptor. `segment` is set to the id of the segment.
unsigned inlet_xcb_attach(xcb_connection_t *connection, int descriptor, uint32_t *segment);
void inlet_xcb_detach(xcb_connection_t *connection, uint32_t segment);
void inlet_xcb_watch_size(xcb_connection_t *connection, xcb_window_t root);
// Returns the id of the object that records changes of a window.
uint32_t inlet_xcb_watch_damage(xcb_connection_t *connection, xcb_window_t window);
void inlet_xcb_forget_damage(xcb_connection_t *connection, uint32_t damage);

// Checks for the answer to a request without waiting. Returns false if it has not arrived. `answer` must be freed. If
// the request failed, `answer` is NULL, and `error` is the error code or 0.
bool inlet_xcb_poll(xcb_connection_t *connection, unsigned sequence, void **answer, int *error);

// Allocates at least `size` bytes of memory that a server can share and no process can shrink. Returns its descriptor,
// or -1 with errno.
int inlet_xcb_make_memory(uint64_t size);
