#pragma once

// The shared declarations of this module.
#ifdef INLET_RESTREAM
#include <gst/app/gstappsrc.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <stdlib.h>
#include <string.h>
#include "include/CRestream.h"

struct inlet_restream_server {
    GstRTSPServer *server;
    GstRTSPMountPoints *mounts;
    GMainContext *context;
    GMainLoop *loop;
    GThread *thread;
    GSource *acceptor, *timer;
    inlet_restream_handlers handlers;
    void *owner;
    int needs_user, most;
    GHashTable *passwords;   // of the users, by name
    GMutex mounting;         // guards adding and removing mount points
    GMutex mutex;            // guards the following fields
    GCond changed;
    int connections, readers;
    GHashTable *by_number;   // the descriptors of connections that can be shut down, by the connections' numbers
};

// One reader of a camera. The reader's pipeline holds it, and for a moment the client that requested it.
struct inlet_restream_reader {
    inlet_restream_server *server;
    char *camera;
    void *stream;            // the result of `open`; NULL before
    char *caps, *payloader;
    GstClockTime base;       // the base time of its pipeline
    GstClockTime next;       // the earliest decoding time of its next packet; used by the pushing thread
    int descriptor;          // of its connection, for shutting it down
    GMutex mutex;            // guards the following fields
    GCond changed;
    GstElement *source;      // NULL before the pipeline is made
    int has_left;
};

// Makes a reader of a camera, for a user who may be NULL, or returns NULL and the status.
inlet_restream_reader *inlet_restream_reader_new(
    inlet_restream_server *server, int descriptor, const char *user, const char *camera, int *status);
void inlet_restream_reader_free(gpointer reader);
// The key by which a client holds its reader until its pipeline is made.
extern const char inlet_restream_held_reader[];

// Makes the factory that distributes a camera to readers.
GstRTSPMediaFactory *inlet_restream_factory_new(const char *camera);

// Makes the object that decides which requests are allowed, and sets its server.
GstRTSPAuth *inlet_restream_gate_new(void);
void inlet_restream_gate_serve(GstRTSPAuth *gate, inlet_restream_server *server);

// Sets up a client that has connected.
void inlet_restream_client_connected(GstRTSPServer *object, GstRTSPClient *client, gpointer server);

// Closes the connections that have not requested a stream in time, or send too much.
gboolean inlet_restream_look_at_clients(gpointer server);

// Makes all connections be closed by their own threads.
void inlet_restream_shut_clients(inlet_restream_server *server);
#endif
