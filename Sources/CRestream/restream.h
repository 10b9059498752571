#pragma once

// What the files of this module share.
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
    int needs_user;
    gint connections, most;
    GMutex mutex;    // guards the mount points that are made and taken away
    GMutex readers;  // guards `count`
    GCond none_left;
    int count;       // readers
};

// One reader of a camera. The reader's pipeline holds it, and for a moment the client that asked for it.
struct inlet_restream_reader {
    inlet_restream_server *server;
    void *stream;            // what `open` gave; NULL before
    char *caps, *payloader;
    GstClockTime base;       // the base time of its pipeline
    GWeakRef client;
    GMutex mutex;            // guards what follows
    GCond changed;
    GstElement *source;      // NULL before the pipeline is made
    int has_left;
};

// Makes a reader of a camera, or returns NULL and the status.
inlet_restream_reader *inlet_restream_reader_new(
    inlet_restream_server *server, GstRTSPClient *client, const char *camera, int *status);
void inlet_restream_reader_free(gpointer reader);

// Makes what hands a camera to readers.
GstRTSPMediaFactory *inlet_restream_factory_new(inlet_restream_server *server, const char *camera);

// Makes what decides who may ask for what, and says of which server.
GstRTSPAuth *inlet_restream_gate_new(void);
void inlet_restream_gate_serve(GstRTSPAuth *gate, inlet_restream_server *server);

// Sets up a client that has connected.
void inlet_restream_client_connected(GstRTSPServer *object, GstRTSPClient *client, gpointer server);

// Closes the clients that have not asked for a stream in time.
gboolean inlet_restream_look_at_clients(gpointer server);
#endif
