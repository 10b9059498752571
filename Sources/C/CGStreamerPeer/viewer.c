#ifdef INLET_GSTREAMER
#include "peer.h"
#include <gst/video/video-event.h>

static const int inlet_gst_gathered = 2;

gpointer inlet_gst_listener_ref(inlet_gst_listener *listener) {
    g_atomic_int_inc(&listener->references);
    return listener;
}

void inlet_gst_listener_unref(gpointer pointer) {
    inlet_gst_listener *listener = pointer;
    if (!g_atomic_int_dec_and_test(&listener->references)) return;
    listener->release(listener->owner);
    g_mutex_clear(&listener->budget.mutex);
    g_mutex_clear(&listener->requests.mutex);
    g_free(listener);
}

static void inlet_gst_closure_notify(gpointer listener, GClosure *closure) {
    (void)closure;
    inlet_gst_listener_unref(listener);
}

void inlet_gst_tell(inlet_gst_listener *listener, int what, int number, const char *text) {
    listener->told(listener->owner, what, number, text);
}

static void inlet_gst_on_gathering(GObject *web, GParamSpec *spec, gpointer listener) {
    (void)spec;
    int state = 0;
    g_object_get(web, "ice-gathering-state", &state, NULL);
    if (state == inlet_gst_gathered) inlet_gst_tell(listener, inlet_gst_all_found, 0, NULL);
}

static void inlet_gst_on_path(GObject *web, GParamSpec *spec, gpointer listener) {
    (void)spec;
    int state = 0;
    g_object_get(web, "connection-state", &state, NULL);
    inlet_gst_tell(listener, inlet_gst_path, state, NULL);
}

static void inlet_gst_on_candidate(GstElement *web, guint section, gchar *line, gpointer listener) {
    (void)web;
    inlet_gst_tell(listener, inlet_gst_candidate, (int)section, line);
}

static GstPadProbeReturn inlet_gst_on_event(GstPad *pad, GstPadProbeInfo *info, gpointer listener) {
    (void)pad;
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
    if (event && gst_video_event_is_force_key_unit(event)) inlet_gst_tell(listener, inlet_gst_wants_key, 0, NULL);
    return GST_PAD_PROBE_OK;
}

// The bus has no reader: messages that are dropped here must be released.
static GstBusSyncReply inlet_gst_on_message(GstBus *bus, GstMessage *message, gpointer listener) {
    (void)bus;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        GError *error = NULL;
        gst_message_parse_error(message, &error, NULL);
        inlet_gst_tell(listener, inlet_gst_error, 0, error ? error->message : NULL);
        g_clear_error(&error);
    }
    gst_message_unref(message);
    return GST_BUS_DROP;
}

static void inlet_gst_connect(
    gpointer object, const char *signal, GCallback callback, inlet_gst_listener *listener) {
    g_signal_connect_data(object, signal, callback, inlet_gst_listener_ref(listener), inlet_gst_closure_notify, 0);
}

// Interrupts the operations that webrtcbin dropped when it was closed. It drops those that it had not begun, without an
// answer, and each holds a reference to webrtcbin: with it, the sockets and the thread of the ICE agent would stay.
static void inlet_gst_interrupt(inlet_gst_requests *requests) {
    g_mutex_lock(&requests->mutex);
    GList *promises = g_steal_pointer(&requests->promises);
    g_mutex_unlock(&requests->mutex);
    for (GList *each = promises; each; each = each->next) {
        // The callback releases the reference that was in the list.
        GstPromise *promise = gst_promise_ref(each->data);
        gst_promise_interrupt(promise);
        gst_promise_unref(promise);
    }
    g_list_free(promises);
}

void inlet_gst_viewer_free(inlet_gst_viewer *viewer) {
    gst_element_set_state(viewer->pipeline, GST_STATE_NULL);
    inlet_gst_interrupt(&viewer->listener->requests);
    inlet_gst_release_receivers(viewer->web);
    g_clear_object(&viewer->next);
    g_clear_object(&viewer->source);
    g_clear_object(&viewer->web);
    gst_object_unref(viewer->pipeline);
    if (viewer->receiver) inlet_gst_receiver_unref(viewer->receiver);
    inlet_gst_listener_unref(viewer->listener);
    g_free(viewer);
}

// Reports key-frame requests that reach an appsrc.
static void inlet_gst_listen_to_source(GstElement *source, inlet_gst_listener *listener) {
    GstPad *pad = gst_element_get_static_pad(source, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, inlet_gst_on_event, inlet_gst_listener_ref(listener),
        inlet_gst_listener_unref);
    gst_object_unref(pad);
}

inlet_gst_viewer *inlet_gst_viewer_new(
    const char *launch, void *owner, inlet_gst_told told, inlet_gst_arrived arrived, inlet_gst_release release) {
    inlet_gst_listener *listener = g_new0(inlet_gst_listener, 1);
    *listener = (inlet_gst_listener){
        .references = 1, .budget = {.credit = inlet_gst_resent_at_once, .at_once = inlet_gst_resent_at_once},
        .told = told, .arrived = arrived, .release = release, .owner = owner};
    g_mutex_init(&listener->budget.mutex);
    g_mutex_init(&listener->requests.mutex);
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch_full(launch, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    if (!pipeline) {
        inlet_gst_tell(listener, inlet_gst_error, 0, error ? error->message : NULL);
        g_clear_error(&error);
        inlet_gst_listener_unref(listener);
        return NULL;
    }
    inlet_gst_viewer *viewer = g_new0(inlet_gst_viewer, 1);
    viewer->listener = listener;
    viewer->pipeline = pipeline;
    viewer->web = gst_bin_get_by_name(GST_BIN(pipeline), "web");
    viewer->source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    GstClock *clock = gst_system_clock_obtain();
    gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
    gst_object_unref(clock);
    gst_element_set_start_time(pipeline, GST_CLOCK_TIME_NONE);
    gst_element_set_base_time(pipeline, 0);

    inlet_gst_mend_messages(pipeline);
    inlet_gst_connect(pipeline, "deep-element-added", G_CALLBACK(inlet_gst_on_element), listener);
    inlet_gst_connect(viewer->web, "notify::ice-gathering-state", G_CALLBACK(inlet_gst_on_gathering), listener);
    inlet_gst_connect(viewer->web, "notify::connection-state", G_CALLBACK(inlet_gst_on_path), listener);
    inlet_gst_connect(viewer->web, "on-ice-candidate", G_CALLBACK(inlet_gst_on_candidate), listener);
    GstBus *bus = gst_element_get_bus(pipeline);
    gst_bus_set_sync_handler(bus, inlet_gst_on_message, inlet_gst_listener_ref(listener), inlet_gst_listener_unref);
    gst_object_unref(bus);
    if (!viewer->source) return viewer;
    inlet_gst_listen_to_source(viewer->source, listener);
    GObject *transceiver = NULL;
    g_signal_emit_by_name(viewer->web, "get-transceiver", 0, &transceiver);
    if (transceiver) {
        g_object_set(transceiver, "direction", inlet_gst_sendonly, "do-nack", TRUE, NULL);
        g_object_unref(transceiver);
    }
    return viewer;
}

// Removes the elements before a pad of webrtcbin from the pipeline. It stops the source first, so that no thread is in
// the other elements.
static void inlet_gst_viewer_clear(inlet_gst_viewer *viewer, GstPad *pad) {
    gst_element_set_state(viewer->source, GST_STATE_NULL);
    GstPad *end = gst_pad_get_peer(pad);
    GstElement *element = end ? gst_pad_get_parent_element(end) : NULL;
    if (end) gst_pad_unlink(end, pad);
    g_clear_object(&end);
    while (element) {
        GstPad *input = gst_element_get_static_pad(element, "sink");
        GstPad *before = input ? gst_pad_get_peer(input) : NULL;
        GstElement *next = before ? gst_pad_get_parent_element(before) : NULL;
        gst_element_set_state(element, GST_STATE_NULL);
        gst_bin_remove(GST_BIN(viewer->pipeline), element);
        gst_object_unref(element);
        g_clear_object(&before);
        g_clear_object(&input);
        element = next;
    }
}

int inlet_gst_viewer_replace(inlet_gst_viewer *viewer, const char *launch, const char *caps) {
    GError *error = NULL;
    GstElement *chain = gst_parse_bin_from_description(launch, TRUE, &error);
    g_clear_error(&error);
    GstPad *pad = gst_element_get_static_pad(viewer->web, "sink_0");
    GstElement *old = gst_bin_get_by_name(GST_BIN(viewer->pipeline), "payloader");
    GstElement *source = NULL;
    if (chain) gst_object_ref_sink(chain);
    if (chain && pad && old) {
        inlet_gst_viewer_clear(viewer, pad);
        guint number = 0;
        g_object_get(old, "seqnum", &number, NULL);
        GstElement *payloader = gst_bin_get_by_name(GST_BIN(chain), "payloader");
        GstPad *end = gst_element_get_static_pad(chain, "src");
        if (payloader && end) {
            g_object_set(payloader, "seqnum-offset", (gint)((number + 1) & 0xffff), NULL);
            gst_bin_add(GST_BIN(viewer->pipeline), chain);
            if (gst_pad_link(end, pad) == GST_PAD_LINK_OK) source = gst_bin_get_by_name(GST_BIN(chain), "source");
        }
        // Descriptions use the last format that reached the pad.
        GstCaps *format = gst_caps_from_string(caps);
        if (source && format && gst_pad_has_current_caps(pad)) gst_pad_send_event(pad, gst_event_new_caps(format));
        gst_clear_caps(&format);
        if (source) {
            inlet_gst_listen_to_source(source, viewer->listener);
            gst_element_sync_state_with_parent(chain);
        }
        g_clear_object(&end);
        g_clear_object(&payloader);
    }
    g_clear_object(&old);
    g_clear_object(&pad);
    g_clear_object(&chain);
    g_clear_object(&viewer->next);
    viewer->next = source;
    return source != NULL;
}

void inlet_gst_viewer_use(inlet_gst_viewer *viewer) {
    g_clear_object(&viewer->source);
    viewer->source = g_steal_pointer(&viewer->next);
}

int inlet_gst_viewer_receive(
    inlet_gst_viewer *viewer, const char *caps, void *owner, inlet_gst_received received, inlet_gst_crowded crowded,
    inlet_gst_release release) {
    viewer->receiver = inlet_gst_receiver_new(viewer->pipeline, viewer->web, caps, owner, received, crowded, release);
    return viewer->receiver != NULL;
}

void inlet_gst_viewer_hold(inlet_gst_viewer *viewer, unsigned milliseconds) {
    g_object_set(viewer->web, "latency", milliseconds, NULL);
}

void inlet_gst_viewer_prepare(inlet_gst_viewer *viewer, const char *address) {
    GObject *ice = NULL, *agent = NULL;
    g_object_get(viewer->web, "ice-agent", &ice, NULL);
    if (!ice) return;
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(ice), "agent")) g_object_get(ice, "agent", &agent, NULL);
    if (agent) g_object_set(agent, "upnp", FALSE, NULL);
    gboolean done = FALSE;
    if (address) g_signal_emit_by_name(ice, "add-local-ip-address", address, &done);
    g_clear_object(&agent);
    g_object_unref(ice);
}

void inlet_gst_viewer_set_stun(inlet_gst_viewer *viewer, const char *uri) {
    g_object_set(viewer->web, "stun-server", uri, NULL);
}

int inlet_gst_viewer_add_turn(inlet_gst_viewer *viewer, const char *uri) {
    gboolean done = FALSE;
    g_signal_emit_by_name(viewer->web, "add-turn-server", uri, &done);
    return done;
}

void inlet_gst_viewer_relay_only(inlet_gst_viewer *viewer) {
    gst_util_set_object_arg(G_OBJECT(viewer->web), "ice-transport-policy", "relay");
}

int inlet_gst_viewer_play(inlet_gst_viewer *viewer) {
    return gst_element_set_state(viewer->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

// More than a tick of RTP's 90 kHz: a receiver takes pictures of one timestamp for one, and shows it broken.
static const GstClockTime inlet_gst_least_step = 12 * GST_USECOND;

int inlet_gst_viewer_push(inlet_gst_viewer *viewer, GstBuffer *packet) {
    packet = gst_buffer_ref(packet);
    // Pictures that arrive at once have times a nanosecond apart.
    if (viewer->last > 0 && GST_BUFFER_PTS(packet) < viewer->last + inlet_gst_least_step) {
        // Copies the metadata of the bytes; others have these as well.
        packet = gst_buffer_make_writable(packet);
        GST_BUFFER_PTS(packet) = viewer->last + inlet_gst_least_step;
    }
    viewer->last = GST_BUFFER_PTS(packet);
    return gst_app_src_push_buffer(GST_APP_SRC(viewer->source), packet) == GST_FLOW_OK;
}

uint64_t inlet_gst_viewer_queued(inlet_gst_viewer *viewer) {
    return gst_app_src_get_current_level_buffers(GST_APP_SRC(viewer->source));
}

void inlet_gst_viewer_inquire(inlet_gst_viewer *viewer, inlet_gst_reported reported) {
    inlet_gst_feedback feedback = inlet_gst_read_reports(&viewer->reports, viewer->web);
    if (feedback.is_known) reported(viewer->listener->owner, feedback);
}

#endif
