// Releases the objects that webrtcbin of GStreamer 1.22 leaves behind if it is closed while a connection begins.

#ifdef INLET_GSTREAMER
#include "peer.h"

// Runs a function in the thread of the ICE agent and waits for its end.
typedef struct {
    GObject *agent;
    GMutex mutex;
    GCond condition;
    int is_done;
} inlet_gst_silencing;

// Blocks all handlers of the agent's states.
static gboolean inlet_gst_silence(gpointer pointer) {
    inlet_gst_silencing *silencing = pointer;
    guint signal = g_signal_lookup("component-state-changed", G_OBJECT_TYPE(silencing->agent));
    GSignalMatchType match = G_SIGNAL_MATCH_ID | G_SIGNAL_MATCH_UNBLOCKED;
    gulong handler;
    while (signal && (handler = g_signal_handler_find(silencing->agent, match, signal, 0, NULL, NULL, NULL))) {
        g_signal_handler_block(silencing->agent, handler);
    }
    g_mutex_lock(&silencing->mutex);
    silencing->is_done = 1;
    g_cond_signal(&silencing->condition);
    g_mutex_unlock(&silencing->mutex);
    return G_SOURCE_REMOVE;
}

// Stops the ICE agent of a closed webrtcbin from reporting further states. Its thread runs until webrtcbin is freed.
static void inlet_gst_silence_agent(GstElement *web) {
    GObject *ice = NULL;
    g_object_get(web, "ice-agent", &ice, NULL);
    if (!ice) return;
    inlet_gst_silencing silencing = {0};
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(ice), "agent"))
        g_object_get(ice, "agent", &silencing.agent, NULL);
    GMainContext *context = NULL;
    if (silencing.agent && g_object_class_find_property(G_OBJECT_GET_CLASS(silencing.agent), "main-context"))
        g_object_get(silencing.agent, "main-context", &context, NULL);
    if (context) {
        g_mutex_init(&silencing.mutex);
        g_cond_init(&silencing.condition);
        g_main_context_invoke(context, inlet_gst_silence, &silencing);
        g_mutex_lock(&silencing.mutex);
        while (!silencing.is_done) g_cond_wait(&silencing.condition, &silencing.mutex);
        g_mutex_unlock(&silencing.mutex);
        g_cond_clear(&silencing.condition);
        g_mutex_clear(&silencing.mutex);
    }
    g_clear_object(&silencing.agent);
    g_object_unref(ice);
}

// Whether a pad of an element in the bin is blocked.
static int inlet_gst_has_block(GstBin *bin) {
    int has_block = 0;
    GST_OBJECT_LOCK(bin);
    for (GList *child = bin->children; child; child = child->next) {
        GST_OBJECT_LOCK(child->data);
        for (GList *pad = GST_ELEMENT(child->data)->srcpads; pad; pad = pad->next) {
            has_block |= gst_pad_is_blocked(pad->data);
        }
        GST_OBJECT_UNLOCK(child->data);
    }
    GST_OBJECT_UNLOCK(bin);
    return has_block;
}

void inlet_gst_release_receivers(GstElement *web) {
    inlet_gst_silence_agent(web);
    GList *bins = NULL;
    GST_OBJECT_LOCK(web);
    for (GList *child = GST_BIN(web)->children; child; child = child->next) {
        if (!g_strcmp0(G_OBJECT_TYPE_NAME(child->data), "TransportReceiveBin"))
            bins = g_list_prepend(bins, gst_object_ref(child->data));
    }
    GST_OBJECT_UNLOCK(web);
    for (GList *bin = bins; bin; bin = bin->next) {
        if (!inlet_gst_has_block(bin->data)) continue;
        // The bin removes the block on its way from this state to the next.
        gst_element_set_state(bin->data, GST_STATE_READY);
        gst_element_set_state(bin->data, GST_STATE_NULL);
    }
    g_list_free_full(bins, gst_object_unref);
}

#endif
