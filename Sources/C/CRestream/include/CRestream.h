#pragma once

// An RTSP server (gst-rtsp-server) that passes packets on unchanged: each reader has its own pipeline of an appsrc and
// a payloader. The server exists only if INLET_RESTREAM is defined.
#include <stddef.h>
#include <stdint.h>

// RTSP's own numbers (RFC 2326, 7.1.1).
static const int inlet_restream_ok = 200;

typedef struct inlet_restream_server inlet_restream_server;
typedef struct inlet_restream_reader inlet_restream_reader;

// The format of a reader's stream. Both texts are for GStreamer: caps, and one or more elements joined by `!`, the last
// of which is a payloader called pay0. They must be freed by free().
typedef struct {
    char *caps, *payloader;
} inlet_restream_format;

// The login of a request: no password, a wrong one, the right one, or the right one for an expired challenge.
typedef enum {
    inlet_restream_no_login, inlet_restream_wrong_login, inlet_restream_right_login, inlet_restream_expired_login,
} inlet_restream_login;

// Called on the server's threads. Each reader's connection has its own thread, which `open` may block. Connections have
// numbers from 1 on.
typedef struct {
    // A connection from a numeric address: returns its number, or 0 if there is no room. `*replaced` becomes the number
    // of a connection that must be closed for it, or 0. Must not block.
    int64_t (*admit)(void *owner, const char *address, int64_t *replaced);
    // A request: returns 0 if it is answered, or the seconds after which another one may be sent. `user` is the user
    // whose password is right, or NULL. Must not block.
    int (*request)(void *owner, int64_t connection, inlet_restream_login login, const char *user);
    // A request was allowed, so that the connection keeps its place. Must not block.
    void (*allow)(void *owner, int64_t connection);
    // A connection has ended. Must not block.
    void (*leave)(void *owner, int64_t connection);
    // Whether a user may watch a camera: a status. `user` is NULL if no login is required, and to ask whether the
    // camera exists. Must not block.
    int (*permits)(void *owner, const char *user, const char *camera);
    // A new reader: sets its stream's format and the object that represents it, or returns a status other than OK. From
    // then on packets may be pushed to `reader`, from one thread at a time.
    int (*open)(void *owner, const char *user, const char *camera, inlet_restream_reader *reader,
        inlet_restream_format *format, void **stream);
    // A reader has left. When this returns, nothing uses its `reader` any more; it is called once for each `open` that
    // returned OK.
    void (*close)(void *stream);
    // The server has ended, and calls no more functions.
    void (*release)(void *owner);
} inlet_restream_handlers;

// The users that may log in. Only Digest authentication is offered, in its oldest form (RFC 2069), which is
// gst-rtsp-server's.
typedef struct inlet_restream_users inlet_restream_users;
inlet_restream_users *inlet_restream_users_new(void);
void inlet_restream_users_add(inlet_restream_users *users, const char *name, const char *password);

// Returns the name of a missing component, which is constant, or NULL.
const char *inlet_restream_missing(void);

// Starts a server, which takes ownership of the users; `most` connections are accepted. Without users no login is
// required. Returns NULL on failure; then `*code` is an errno or 0, `*text` states the reason and must be freed by
// free(), and the owner is not released.
inlet_restream_server *inlet_restream_start(const char *host, int port, inlet_restream_users *users, int most,
    inlet_restream_handlers handlers, void *owner, int *code, char **text);

// The port on which it listens.
int inlet_restream_port(const inlet_restream_server *server);

// Closes all connections, waits up to five seconds until none is left, and then frees the server. A connection that
// remains after that keeps it in memory.
void inlet_restream_stop(inlet_restream_server *server);

// The display and decoding times of a packet's picture, by the machine's monotonic clock, in nanoseconds.
typedef struct {
    uint64_t shown, decoded;
} inlet_restream_times;

// Hands over a packet, one at a time; `release(owner)` releases its bytes. Waits until the reader's pipeline is made,
// or the reader has left. Returns 0 if too many bytes wait already, or the reader has left; the packet is released
// then, too.
int inlet_restream_push(inlet_restream_reader *reader, const void *bytes, size_t count, inlet_restream_times times,
    int is_key, void *owner, void (*release)(void *));

// Accepts no more packets, and ends a wait for the reader's pipeline. The connection stays open for an answer. Returns
// at once.
void inlet_restream_leave(inlet_restream_reader *reader);

// Closes the connection of a reader that has not left: there is nothing more to send. Returns at once.
void inlet_restream_end(inlet_restream_reader *reader);
