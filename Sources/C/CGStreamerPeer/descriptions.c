#ifdef INLET_GSTREAMER
#include "peer.h"

// An operation that webrtcbin answers later.
typedef struct {
    inlet_gst_listener *listener;
    GstElement *web;
} inlet_gst_request;

static void inlet_gst_request_free(gpointer pointer) {
    inlet_gst_request *request = pointer;
    inlet_gst_listener_unref(request->listener);
    gst_object_unref(request->web);
    g_free(request);
}

static GstPromise *inlet_gst_promise(
    inlet_gst_listener *listener, GstElement *web, GstPromiseChangeFunc changed) {
    inlet_gst_request *request = g_new0(inlet_gst_request, 1);
    request->listener = inlet_gst_listener_ref(listener);
    request->web = gst_object_ref(web);
    GstPromise *promise = gst_promise_new_with_change_func(changed, request, inlet_gst_request_free);
    g_mutex_lock(&listener->requests.mutex);
    listener->requests.promises = g_list_prepend(listener->requests.promises, promise);
    g_mutex_unlock(&listener->requests.mutex);
    return promise;
}

// Releases a promise and its request, at the end of its callback.
static void inlet_gst_promise_free(GstPromise *promise, inlet_gst_request *request) {
    inlet_gst_requests *requests = &request->listener->requests;
    g_mutex_lock(&requests->mutex);
    requests->promises = g_list_remove(requests->promises, promise);
    g_mutex_unlock(&requests->mutex);
    gst_promise_unref(promise);
}

// Whether a promise was kept. A reply may be absent, or contain an error. A promise is interrupted only when the viewer
// is closed, which needs no report.
static int inlet_gst_is_kept(GstPromise *promise, inlet_gst_request *request) {
    if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) return 0;
    const GstStructure *reply = gst_promise_get_reply(promise);
    if (!reply || !gst_structure_has_field(reply, "error")) return 1;
    GError *error = NULL;
    gst_structure_get(reply, "error", G_TYPE_ERROR, &error, NULL);
    inlet_gst_tell(request->listener, inlet_gst_error, 0, error ? error->message : NULL);
    g_clear_error(&error);
    return 0;
}

static void inlet_gst_tell_description(inlet_gst_request *request, const inlet_gst_description *description) {
    gchar *text = gst_sdp_message_as_text(description->sdp);
    inlet_gst_tell(request->listener, inlet_gst_local_set, 0, text);
    g_free(text);
}

static void inlet_gst_local_is_set(GstPromise *promise, gpointer request) {
    inlet_gst_description *description = NULL;
    if (inlet_gst_is_kept(promise, request)) {
        g_object_get(((inlet_gst_request *)request)->web, "local-description", &description, NULL);
        if (description) {
            inlet_gst_tell_description(request, description);
            g_boxed_free(g_type_from_name("GstWebRTCSessionDescription"), description);
        } else {
            inlet_gst_tell(
                ((inlet_gst_request *)request)->listener, inlet_gst_error, 0, "webrtcbin has no description");
        }
    }
    inlet_gst_promise_free(promise, request);
}

static void inlet_gst_description_is_made(GstPromise *promise, gpointer pointer) {
    inlet_gst_request *request = pointer;
    inlet_gst_description *description = NULL;
    GType type = g_type_from_name("GstWebRTCSessionDescription");
    const GstStructure *reply = inlet_gst_is_kept(promise, request) ? gst_promise_get_reply(promise) : NULL;
    const char *kind = reply && gst_structure_has_field(reply, "offer") ? "offer" : "answer";
    if (reply) gst_structure_get(reply, kind, type, &description, NULL);
    if (description) {
        GstPromise *next = inlet_gst_promise(request->listener, request->web, inlet_gst_local_is_set);
        inlet_gst_state_longest_message(request->web, description->sdp);
        g_signal_emit_by_name(request->web, "set-local-description", description, next);
        g_boxed_free(type, description);
    } else if (reply) {
        inlet_gst_tell(request->listener, inlet_gst_error, 0, "webrtcbin made no description");
    }
    inlet_gst_promise_free(promise, request);
}

static void inlet_gst_remote_is_set(GstPromise *promise, gpointer pointer) {
    inlet_gst_request *request = pointer;
    if (inlet_gst_is_kept(promise, request)) inlet_gst_tell(request->listener, inlet_gst_remote_set, 0, NULL);
    inlet_gst_promise_free(promise, request);
}

int inlet_gst_viewer_set_remote(inlet_gst_viewer *viewer, int type, const char *text, unsigned length) {
    inlet_gst_description description = {type, NULL};
    gst_sdp_message_new(&description.sdp);
    int is_read = gst_sdp_message_parse_buffer((const guint8 *)text, length, description.sdp) == GST_SDP_OK;
    if (is_read) {
        GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_remote_is_set);
        g_signal_emit_by_name(viewer->web, "set-remote-description", &description, promise);
    }
    gst_sdp_message_free(description.sdp);
    return is_read;
}

void inlet_gst_viewer_answer(inlet_gst_viewer *viewer) {
    GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_description_is_made);
    g_signal_emit_by_name(viewer->web, "create-answer", NULL, promise);
}

void inlet_gst_viewer_offer(inlet_gst_viewer *viewer) {
    GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_description_is_made);
    g_signal_emit_by_name(viewer->web, "create-offer", NULL, promise);
}

static void inlet_gst_further_offer_is_made(GstPromise *promise, gpointer pointer) {
    inlet_gst_request *request = pointer;
    inlet_gst_description *description = NULL;
    GType type = g_type_from_name("GstWebRTCSessionDescription");
    const GstStructure *reply = inlet_gst_is_kept(promise, request) ? gst_promise_get_reply(promise) : NULL;
    if (reply) gst_structure_get(reply, "offer", type, &description, NULL);
    if (description) {
        inlet_gst_state_longest_message(request->web, description->sdp);
        gchar *text = gst_sdp_message_as_text(description->sdp);
        inlet_gst_tell(request->listener, inlet_gst_offer_made, 0, text);
        g_free(text);
        g_boxed_free(type, description);
    } else if (reply) {
        inlet_gst_tell(request->listener, inlet_gst_error, 0, "webrtcbin made no further offer");
    }
    inlet_gst_promise_free(promise, request);
}

void inlet_gst_viewer_offer_further(inlet_gst_viewer *viewer) {
    GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_further_offer_is_made);
    g_signal_emit_by_name(viewer->web, "create-offer", NULL, promise);
}

static void inlet_gst_further_offer_is_set(GstPromise *promise, gpointer request) {
    inlet_gst_is_kept(promise, request);
    inlet_gst_promise_free(promise, request);
}

int inlet_gst_viewer_set_further(inlet_gst_viewer *viewer, const char *text, unsigned length) {
    inlet_gst_description description = {inlet_gst_offer, NULL};
    gst_sdp_message_new(&description.sdp);
    int is_read = gst_sdp_message_parse_buffer((const guint8 *)text, length, description.sdp) == GST_SDP_OK;
    if (is_read) {
        GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_further_offer_is_set);
        g_signal_emit_by_name(viewer->web, "set-local-description", &description, promise);
    }
    gst_sdp_message_free(description.sdp);
    return is_read;
}

char *inlet_gst_viewer_describe(inlet_gst_viewer *viewer) {
    inlet_gst_description *description = NULL;
    g_object_get(viewer->web, "local-description", &description, NULL);
    if (!description) return NULL;
    char *text = gst_sdp_message_as_text(description->sdp);
    g_boxed_free(g_type_from_name("GstWebRTCSessionDescription"), description);
    return text;
}

void inlet_gst_viewer_add_candidate(inlet_gst_viewer *viewer, unsigned section, const char *line) {
    g_signal_emit_by_name(viewer->web, "add-ice-candidate", section, line);
}

#endif
