// Data channels of a webrtcbin. GStreamer's header for them is in a package that brings in OpenCV, so they are plain
// objects here.

#ifdef INLET_GSTREAMER
#include "peer.h"
#include <string.h>

typedef struct {
    gint references;
    inlet_gst_channel_told told;
    inlet_gst_release release;
    void *owner;
} inlet_gst_channel_listener;

static void inlet_gst_channel_listener_unref(gpointer pointer, GClosure *closure) {
    (void)closure;
    inlet_gst_channel_listener *listener = pointer;
    if (!g_atomic_int_dec_and_test(&listener->references)) return;
    listener->release(listener->owner);
    g_free(listener);
}

static void inlet_gst_channel_tell(gpointer pointer, int what, const void *bytes, size_t count) {
    inlet_gst_channel_listener *listener = pointer;
    listener->told(listener->owner, what, bytes, count);
}

static void inlet_gst_on_channel_open(GObject *channel, gpointer listener) {
    (void)channel;
    inlet_gst_channel_tell(listener, inlet_gst_channel_opened, NULL, 0);
}

static void inlet_gst_on_channel_close(GObject *channel, gpointer listener) {
    (void)channel;
    inlet_gst_channel_tell(listener, inlet_gst_channel_closed, NULL, 0);
}

static void inlet_gst_on_channel_error(GObject *channel, GError *error, gpointer listener) {
    (void)channel;
    const char *text = error && error->message ? error->message : "";
    inlet_gst_channel_tell(listener, inlet_gst_channel_failed, text, strlen(text));
}

// An empty message comes as NULL.
static void inlet_gst_on_channel_text(GObject *channel, const gchar *text, gpointer listener) {
    (void)channel;
    inlet_gst_channel_tell(listener, inlet_gst_channel_text, text, text ? strlen(text) : 0);
}

static void inlet_gst_on_channel_data(GObject *channel, GBytes *data, gpointer listener) {
    (void)channel;
    gsize count = 0;
    gconstpointer bytes = data ? g_bytes_get_data(data, &count) : NULL;
    inlet_gst_channel_tell(listener, inlet_gst_channel_binary, bytes, count);
}

static void inlet_gst_on_channel_drained(GObject *channel, gpointer listener) {
    (void)channel;
    inlet_gst_channel_tell(listener, inlet_gst_channel_drained, NULL, 0);
}

static void inlet_gst_channel_connect(
    GObject *channel, const char *signal, GCallback callback, inlet_gst_channel_listener *listener) {
    g_atomic_int_inc(&listener->references);
    g_signal_connect_data(channel, signal, callback, listener, inlet_gst_channel_listener_unref, 0);
}

void inlet_gst_channel_listen(GObject *channel, uint64_t low, void *owner, inlet_gst_channel_told told,
    inlet_gst_release release) {
    inlet_gst_channel_listener *listener = g_new0(inlet_gst_channel_listener, 1);
    *listener = (inlet_gst_channel_listener){1, told, release, owner};
    inlet_gst_channel_connect(channel, "on-open", G_CALLBACK(inlet_gst_on_channel_open), listener);
    inlet_gst_channel_connect(channel, "on-close", G_CALLBACK(inlet_gst_on_channel_close), listener);
    inlet_gst_channel_connect(channel, "on-error", G_CALLBACK(inlet_gst_on_channel_error), listener);
    inlet_gst_channel_connect(channel, "on-message-string", G_CALLBACK(inlet_gst_on_channel_text), listener);
    inlet_gst_channel_connect(channel, "on-message-data", G_CALLBACK(inlet_gst_on_channel_data), listener);
    g_object_set(channel, "buffered-amount-low-threshold", (guint64)low, NULL);
    inlet_gst_channel_connect(
        channel, "on-buffered-amount-low", G_CALLBACK(inlet_gst_on_channel_drained), listener);
    inlet_gst_channel_listener_unref(listener, NULL);
}

inlet_gst_channel_facts inlet_gst_channel_look(GObject *channel) {
    inlet_gst_channel_facts facts = {0};
    gboolean is_ordered = TRUE;
    g_object_get(channel, "label", &facts.label, "protocol", &facts.protocol, "ordered", &is_ordered, "max-retransmits",
        &facts.retransmits, "max-packet-lifetime", &facts.lifetime, NULL);
    facts.is_ordered = is_ordered;
    return facts;
}

uint64_t inlet_gst_channel_queued(GObject *channel) {
    guint64 queued = 0;
    g_object_get(channel, "buffered-amount", &queued, NULL);
    return queued;
}

int inlet_gst_channel_state(GObject *channel) {
    int state = 0;
    g_object_get(channel, "ready-state", &state, NULL);
    return state;
}

int inlet_gst_channel_send(GObject *channel, int is_text, const void *bytes, size_t count) {
    if (inlet_gst_channel_state(channel) != inlet_gst_channel_open) return 0;
    if (is_text) {
        gchar *text = count ? g_strndup(bytes, count) : NULL;
        g_signal_emit_by_name(channel, "send-string", text);
        g_free(text);
    } else {
        GBytes *data = count ? g_bytes_new(bytes, count) : NULL;
        g_signal_emit_by_name(channel, "send-data", data);
        if (data) g_bytes_unref(data);
    }
    return 1;
}

void inlet_gst_channel_close(GObject *channel) { g_signal_emit_by_name(channel, "close"); }

GObject *inlet_gst_viewer_open_channel(
    inlet_gst_viewer *viewer, const char *label, int is_ordered, int retransmits, int lifetime) {
    GstStructure *options = gst_structure_new("options", "ordered", G_TYPE_BOOLEAN, is_ordered != 0, "max-retransmits",
        G_TYPE_INT, retransmits, "max-packet-lifetime", G_TYPE_INT, lifetime, NULL);
    GObject *channel = NULL;
    g_signal_emit_by_name(viewer->web, "create-data-channel", label, options, &channel);
    gst_structure_free(options);
    return channel;
}

typedef struct {
    inlet_gst_channel_found found;
    inlet_gst_release release;
    void *owner;
} inlet_gst_channel_finder;

static void inlet_gst_channel_finder_free(gpointer finder, GClosure *closure) {
    (void)closure;
    ((inlet_gst_channel_finder *)finder)->release(((inlet_gst_channel_finder *)finder)->owner);
    g_free(finder);
}

static void inlet_gst_on_channel(GstElement *web, GObject *channel, gpointer finder) {
    (void)web;
    inlet_gst_channel_finder *to = finder;
    to->found(to->owner, g_object_ref(channel));
}

void inlet_gst_viewer_find_channels(
    inlet_gst_viewer *viewer, void *owner, inlet_gst_channel_found found, inlet_gst_release release) {
    inlet_gst_channel_finder *finder = g_new0(inlet_gst_channel_finder, 1);
    *finder = (inlet_gst_channel_finder){found, release, owner};
    g_signal_connect_data(
        viewer->web, "on-data-channel", G_CALLBACK(inlet_gst_on_channel), finder, inlet_gst_channel_finder_free, 0);
}

void inlet_gst_channel_free(GObject *channel) { g_object_unref(channel); }

#endif
