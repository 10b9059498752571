#pragma once

// The part of GStreamer that WebRTC needs. Its variadic calls and macros are wrapped here, and a peer's pipeline is one
// structure, whose callbacks come from threads of GStreamer.
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/sdp/sdp.h>
#include <gst/video/video-event.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdint.h>
#include "transportfeedback.h"
#include "viewerpackets.h"

#include "closing.h"
#include "datachannel.h"
#include "orientation.h"
#include "sctpmessages.h"

// From gst/webrtc/webrtc_fwd.h and rtcsessiondescription.h, whose package, libgstreamer-plugins-bad1.0-dev, brings in
// all of OpenCV.
typedef struct {
    int type;
    GstSDPMessage *sdp;
} inlet_gst_description;
static const int inlet_gst_offer = 1;
static const int inlet_gst_answered = 3;
static const int inlet_gst_inactive = 1;
static const int inlet_gst_sendonly = 2;
static const int inlet_gst_recvonly = 3;
static const int inlet_gst_sendrecv = 4;
static const int inlet_gst_gathered = 2;
static const int inlet_gst_connected = 2;
static const int inlet_gst_disconnected = 3;
static const int inlet_gst_failed = 4;
static const int inlet_gst_closed = 5;

// The events of a viewer. The meaning of `number` and `text` is given for each; `text` is valid during the call.
static const int inlet_gst_remote_set = 0;
static const int inlet_gst_local_set = 1;  // text: the description
static const int inlet_gst_all_found = 2;
static const int inlet_gst_path = 3;       // number: the state of the connection
static const int inlet_gst_wants_key = 4;
static const int inlet_gst_error = 5;      // text: the failure
static const int inlet_gst_offer_made = 7; // text: the offer, which is not set
static const int inlet_gst_candidate = 6;  // number: the media section; text: the line
typedef void (*inlet_gst_told)(void *owner, int what, int number, const char *text);
typedef void (*inlet_gst_release)(void *owner);

// The budget for resending packets: a fraction of the sent packets, and some at once. rtprtxsend resends everything on
// request, so behind a full link a viewer that requests all missing packets would be sent many times the link's
// capacity.
typedef struct {
    GMutex mutex;
    double credit, at_once;
} inlet_gst_budget;
static const double inlet_gst_resent_part = 0.25;
static const double inlet_gst_resent_at_once = 50;

// The operations that webrtcbin has not answered yet: a reference to each promise.
typedef struct {
    GMutex mutex;
    GList *promises;
} inlet_gst_requests;

// The object that GStreamer's callbacks hold. The owner is released with the last of them.
typedef struct {
    gint references;
    inlet_gst_budget budget;
    inlet_gst_requests requests;
    inlet_gst_told told;
    inlet_gst_arrived arrived;
    inlet_gst_release release;
    void *owner;
} inlet_gst_listener;

static inline gpointer inlet_gst_listener_ref(inlet_gst_listener *listener) {
    g_atomic_int_inc(&listener->references);
    return listener;
}

static inline void inlet_gst_listener_unref(gpointer pointer) {
    inlet_gst_listener *listener = pointer;
    if (!g_atomic_int_dec_and_test(&listener->references)) return;
    listener->release(listener->owner);
    g_mutex_clear(&listener->budget.mutex);
    g_mutex_clear(&listener->requests.mutex);
    g_free(listener);
}

static inline void inlet_gst_closure_notify(gpointer listener, GClosure *closure) {
    (void)closure;
    inlet_gst_listener_unref(listener);
}

static inline void inlet_gst_tell(inlet_gst_listener *listener, int what, int number, const char *text) {
    listener->told(listener->owner, what, number, text);
}

// Starts GStreamer once in a process. Returns NULL, or the name of a missing part, which is constant.
static inline const char *inlet_gst_start(void) {
    if (!gst_init_check(NULL, NULL, NULL)) return "GStreamer itself";
    static const char *const needed[] = {
        "appsrc", "capsfilter", "rtph264pay", "rtpbin", "webrtcbin", "nicesrc", "dtlsenc", "srtpenc", "sctpenc", NULL,
    };
    for (int index = 0; needed[index]; index++) {
        GstElementFactory *factory = gst_element_factory_find(needed[index]);
        if (!factory) return needed[index];
        gst_object_unref(factory);
    }
    return NULL;
}

// Whether the machine has an address of this family that is not its own loopback's.
static inline int inlet_gst_has_family(int family) {
    struct ifaddrs *list = NULL;
    int found = 0;
    if (getifaddrs(&list)) return 1;
    for (struct ifaddrs *each = list; each; each = each->ifa_next) {
        if (!each->ifa_addr || (each->ifa_flags & IFF_LOOPBACK) || !(each->ifa_flags & IFF_UP)) continue;
        if (each->ifa_addr->sa_family == family) found = 1;
    }
    freeifaddrs(list);
    return found;
}

// Whether the machine has an address that is not its own loopback's.
static inline int inlet_gst_has_network(void) {
    return inlet_gst_has_family(AF_INET) || inlet_gst_has_family(AF_INET6);
}

// Whether candidates of IPv4 are gathered if no address is given: the machine has one, or only the loopback's is used.
static inline int inlet_gst_has_ipv4(void) { return inlet_gst_has_family(AF_INET) || !inlet_gst_has_network(); }

#include "receiver.h"
#include "receiverreports.h"

// A peer's pipeline. `source` is NULL if nothing is sent, `receiver` if nothing is received.
typedef struct {
    GstElement *pipeline, *web, *source;
    inlet_gst_listener *listener;
    inlet_gst_receiver *receiver;
    inlet_gst_reports reports;
    GstClockTime last;  // the time of the last packet that was handed over
} inlet_gst_viewer;

static inline void inlet_gst_on_gathering(GObject *web, GParamSpec *spec, gpointer listener) {
    (void)spec;
    int state = 0;
    g_object_get(web, "ice-gathering-state", &state, NULL);
    if (state == inlet_gst_gathered) inlet_gst_tell(listener, inlet_gst_all_found, 0, NULL);
}

static inline void inlet_gst_on_path(GObject *web, GParamSpec *spec, gpointer listener) {
    (void)spec;
    int state = 0;
    g_object_get(web, "connection-state", &state, NULL);
    inlet_gst_tell(listener, inlet_gst_path, state, NULL);
}

static inline void inlet_gst_on_candidate(GstElement *web, guint section, gchar *line, gpointer listener) {
    (void)web;
    inlet_gst_tell(listener, inlet_gst_candidate, (int)section, line);
}

static inline GstPadProbeReturn inlet_gst_on_event(GstPad *pad, GstPadProbeInfo *info, gpointer listener) {
    (void)pad;
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
    if (event && gst_video_event_is_force_key_unit(event)) inlet_gst_tell(listener, inlet_gst_wants_key, 0, NULL);
    return GST_PAD_PROBE_OK;
}

static inline GstPadProbeReturn inlet_gst_on_retransmission(GstPad *pad, GstPadProbeInfo *info, gpointer pointer) {
    (void)pad;
    inlet_gst_budget *budget = &((inlet_gst_listener *)pointer)->budget;
    GstPadProbeReturn result = GST_PAD_PROBE_OK;
    g_mutex_lock(&budget->mutex);
    if (info->type & GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) {
        const GstStructure *request = gst_event_get_structure(GST_PAD_PROBE_INFO_EVENT(info));
        if (request && gst_structure_has_name(request, "GstRTPRetransmissionRequest")) {
            if (budget->credit < 1) result = GST_PAD_PROBE_DROP;
            else budget->credit -= 1;
        }
    } else {
        guint count = info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST
            ? gst_buffer_list_length(GST_PAD_PROBE_INFO_BUFFER_LIST(info)) : 1;
        budget->credit = MIN(budget->at_once, budget->credit + count * inlet_gst_resent_part);
    }
    g_mutex_unlock(&budget->mutex);
    return result;
}

// The state of the probe for reports on each packet.
typedef struct {
    inlet_gst_listener *listener;
    guint64 latest;
} inlet_gst_arrivals_reader;

static inline void inlet_gst_arrivals_reader_free(gpointer reader) {
    inlet_gst_listener_unref(((inlet_gst_arrivals_reader *)reader)->listener);
    g_free(reader);
}

// Reports come one after another, because rtpsession reads one RTCP packet at a time.
static inline GstPadProbeReturn inlet_gst_on_arrivals(GstPad *pad, GstPadProbeInfo *info, gpointer pointer) {
    (void)pad;
    inlet_gst_arrivals_reader *reader = pointer;
    inlet_gst_arrivals arrivals;
    if (inlet_gst_read_arrivals(GST_PAD_PROBE_INFO_EVENT(info), &reader->latest, &arrivals))
        reader->listener->arrived(reader->listener->owner, arrivals);
    return GST_PAD_PROBE_OK;
}

static inline void inlet_gst_on_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer listener) {
    (void)bin, (void)inner;
    GstElementFactory *factory = gst_element_get_factory(element);
    if (!factory) return;
    if (!g_strcmp0(GST_OBJECT_NAME(factory), "rtpfunnel")) {
        GstPad *funnel = gst_element_get_static_pad(element, "src");
        if (!funnel) return;
        inlet_gst_arrivals_reader *reader = g_new0(inlet_gst_arrivals_reader, 1);
        *reader = (inlet_gst_arrivals_reader){inlet_gst_listener_ref(listener), GST_CLOCK_TIME_NONE};
        gst_pad_add_probe(
            funnel, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, inlet_gst_on_arrivals, reader, inlet_gst_arrivals_reader_free);
        gst_object_unref(funnel);
        return;
    }
    if (g_strcmp0(GST_OBJECT_NAME(factory), "rtprtxsend")) return;
    GstPad *pad = gst_element_get_static_pad(element, "src");
    if (!pad) return;
    gst_pad_add_probe(pad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST | GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
        inlet_gst_on_retransmission, inlet_gst_listener_ref(listener), inlet_gst_listener_unref);
    gst_object_unref(pad);
}

// The bus has no reader: messages that are dropped here must be released.
static inline GstBusSyncReply inlet_gst_on_message(GstBus *bus, GstMessage *message, gpointer listener) {
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

static inline void inlet_gst_connect(
    gpointer object, const char *signal, GCallback callback, inlet_gst_listener *listener) {
    g_signal_connect_data(object, signal, callback, inlet_gst_listener_ref(listener), inlet_gst_closure_notify, 0);
}

// Interrupts the operations that webrtcbin dropped when it was closed. It drops those that it had not begun, without an
// answer, and each holds a reference to webrtcbin: with it, the sockets and the thread of the ICE agent would stay.
static inline void inlet_gst_interrupt(inlet_gst_requests *requests) {
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

// Closes a viewer: its threads have ended when this returns. Not from a callback, which would wait for itself.
static inline void inlet_gst_viewer_free(inlet_gst_viewer *viewer) {
    gst_element_set_state(viewer->pipeline, GST_STATE_NULL);
    inlet_gst_interrupt(&viewer->listener->requests);
    inlet_gst_release_receivers(viewer->web);
    g_clear_object(&viewer->source);
    g_clear_object(&viewer->web);
    gst_object_unref(viewer->pipeline);
    if (viewer->receiver) inlet_gst_receiver_unref(viewer->receiver);
    inlet_gst_listener_unref(viewer->listener);
    g_free(viewer);
}

// Reports key-frame requests that reach an appsrc.
static inline void inlet_gst_listen_to_source(GstElement *source, inlet_gst_listener *listener) {
    GstPad *pad = gst_element_get_static_pad(source, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, inlet_gst_on_event, inlet_gst_listener_ref(listener),
        inlet_gst_listener_unref);
    gst_object_unref(pad);
}

// Makes a pipeline with a webrtcbin named `web` and, to send, an appsrc named `source`. Releases the owner when the
// last callback is gone, also if it returns NULL. All pipelines count time from zero of the monotonic clock, so that a
// capture time is a PTS in each.
static inline inlet_gst_viewer *inlet_gst_viewer_new(
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
static inline void inlet_gst_viewer_clear(inlet_gst_viewer *viewer, GstPad *pad) {
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

// Puts another chain, of an appsrc named `source` and a payloader named `payloader`, before the same pad of webrtcbin,
// and continues its packet numbers: SRTP and peers would not notice a restart. `caps` are those of its output. Returns
// the source, which is not in use before inlet_gst_viewer_use; NULL on failure. The caller must not push meanwhile.
static inline GstElement *inlet_gst_viewer_replace(inlet_gst_viewer *viewer, const char *launch, const char *caps) {
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
    return source;
}

// Sends packets to another source. No packet is handed over meanwhile.
static inline void inlet_gst_viewer_use(inlet_gst_viewer *viewer, GstElement *source) {
    g_clear_object(&viewer->source);
    viewer->source = source;
}

// Begins to receive the peer's video, in the media section that sends if `caps` is NULL. Returns 0 if webrtcbin cannot.
static inline int inlet_gst_viewer_receive(
    inlet_gst_viewer *viewer, const char *caps, void *owner, inlet_gst_received received, inlet_gst_crowded crowded,
    inlet_gst_release release) {
    viewer->receiver = inlet_gst_receiver_new(viewer->pipeline, viewer->web, caps, owner, received, crowded, release);
    return viewer->receiver != NULL;
}

// How long later packets wait for a missing one, in milliseconds.
static inline void inlet_gst_viewer_hold(inlet_gst_viewer *viewer, unsigned milliseconds) {
    g_object_set(viewer->web, "latency", milliseconds, NULL);
}

// Prevents the ICE agent from asking a router, which takes 200 ms, and makes it gather only at `address` unless that is
// NULL.
static inline void inlet_gst_viewer_prepare(inlet_gst_viewer *viewer, const char *address) {
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

static inline void inlet_gst_viewer_set_stun(inlet_gst_viewer *viewer, const char *uri) {
    g_object_set(viewer->web, "stun-server", uri, NULL);
}

static inline int inlet_gst_viewer_add_turn(inlet_gst_viewer *viewer, const char *uri) {
    gboolean done = FALSE;
    g_signal_emit_by_name(viewer->web, "add-turn-server", uri, &done);
    return done;
}

// Makes media always go through a relay: no other candidate is sent.
static inline void inlet_gst_viewer_relay_only(inlet_gst_viewer *viewer) {
    gst_util_set_object_arg(G_OBJECT(viewer->web), "ice-transport-policy", "relay");
}

static inline int inlet_gst_viewer_play(inlet_gst_viewer *viewer) {
    return gst_element_set_state(viewer->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

// An operation that webrtcbin answers later.
typedef struct {
    inlet_gst_listener *listener;
    GstElement *web;
} inlet_gst_request;

static inline void inlet_gst_request_free(gpointer pointer) {
    inlet_gst_request *request = pointer;
    inlet_gst_listener_unref(request->listener);
    gst_object_unref(request->web);
    g_free(request);
}

static inline GstPromise *inlet_gst_promise(
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
static inline void inlet_gst_promise_free(GstPromise *promise, inlet_gst_request *request) {
    inlet_gst_requests *requests = &request->listener->requests;
    g_mutex_lock(&requests->mutex);
    requests->promises = g_list_remove(requests->promises, promise);
    g_mutex_unlock(&requests->mutex);
    gst_promise_unref(promise);
}

// Whether a promise was kept. A reply may be absent, or contain an error. A promise is interrupted only when the viewer
// is closed, which needs no report.
static inline int inlet_gst_is_kept(GstPromise *promise, inlet_gst_request *request) {
    if (gst_promise_wait(promise) != GST_PROMISE_RESULT_REPLIED) return 0;
    const GstStructure *reply = gst_promise_get_reply(promise);
    if (!reply || !gst_structure_has_field(reply, "error")) return 1;
    GError *error = NULL;
    gst_structure_get(reply, "error", G_TYPE_ERROR, &error, NULL);
    inlet_gst_tell(request->listener, inlet_gst_error, 0, error ? error->message : NULL);
    g_clear_error(&error);
    return 0;
}

static inline void inlet_gst_tell_description(inlet_gst_request *request, const inlet_gst_description *description) {
    gchar *text = gst_sdp_message_as_text(description->sdp);
    inlet_gst_tell(request->listener, inlet_gst_local_set, 0, text);
    g_free(text);
}

static inline void inlet_gst_local_is_set(GstPromise *promise, gpointer request) {
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

static inline void inlet_gst_description_is_made(GstPromise *promise, gpointer pointer) {
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

static inline void inlet_gst_remote_is_set(GstPromise *promise, gpointer pointer) {
    inlet_gst_request *request = pointer;
    if (inlet_gst_is_kept(promise, request)) inlet_gst_tell(request->listener, inlet_gst_remote_set, 0, NULL);
    inlet_gst_promise_free(promise, request);
}

// Sets the peer's description, and reports when it is set. Returns 0 if the text is not SDP.
static inline int inlet_gst_viewer_set_remote(inlet_gst_viewer *viewer, int type, const char *text, unsigned length) {
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

// Makes an answer and sets it, and reports when it is set.
static inline void inlet_gst_viewer_answer(inlet_gst_viewer *viewer) {
    GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_description_is_made);
    g_signal_emit_by_name(viewer->web, "create-answer", NULL, promise);
}

// Makes an offer and sets it, and reports when it is set.
static inline void inlet_gst_viewer_offer(inlet_gst_viewer *viewer) {
    GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_description_is_made);
    g_signal_emit_by_name(viewer->web, "create-offer", NULL, promise);
}

static inline void inlet_gst_further_offer_is_made(GstPromise *promise, gpointer pointer) {
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

// Makes a further offer without setting it, and reports when it is made.
static inline void inlet_gst_viewer_offer_further(inlet_gst_viewer *viewer) {
    GstPromise *promise = inlet_gst_promise(viewer->listener, viewer->web, inlet_gst_further_offer_is_made);
    g_signal_emit_by_name(viewer->web, "create-offer", NULL, promise);
}

static inline void inlet_gst_further_offer_is_set(GstPromise *promise, gpointer request) {
    inlet_gst_is_kept(promise, request);
    inlet_gst_promise_free(promise, request);
}

// Sets a further offer that was made, right before its answer. Returns 0 if the text is not SDP.
static inline int inlet_gst_viewer_set_further(inlet_gst_viewer *viewer, const char *text, unsigned length) {
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

// The own description with the candidates so far, to be freed by g_free; NULL before it is set.
static inline char *inlet_gst_viewer_describe(inlet_gst_viewer *viewer) {
    inlet_gst_description *description = NULL;
    g_object_get(viewer->web, "local-description", &description, NULL);
    if (!description) return NULL;
    char *text = gst_sdp_message_as_text(description->sdp);
    g_boxed_free(g_type_from_name("GstWebRTCSessionDescription"), description);
    return text;
}

static inline void inlet_gst_viewer_add_candidate(inlet_gst_viewer *viewer, unsigned section, const char *line) {
    g_signal_emit_by_name(viewer->web, "add-ice-candidate", section, line);
}

// How many packets may be resent at once; earlier requests are dropped if `forgets`.
static inline void inlet_gst_viewer_limit_resending(inlet_gst_viewer *viewer, unsigned at_once, int forgets) {
    inlet_gst_budget *budget = &viewer->listener->budget;
    g_mutex_lock(&budget->mutex);
    budget->at_once = at_once;
    budget->credit = forgets ? 0 : MIN(budget->credit, budget->at_once);
    g_mutex_unlock(&budget->mutex);
}

// More than a tick of RTP's 90 kHz: a receiver takes pictures of one timestamp for one, and shows it broken.
static const GstClockTime inlet_gst_least_step = 12 * GST_USECOND;

// Hands over a packet, which others may have as well. Returns whether it was accepted. Called by one thread at a time.
static inline int inlet_gst_viewer_push(inlet_gst_viewer *viewer, GstBuffer *packet) {
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

// Packets that were handed over and not sent yet.
static inline uint64_t inlet_gst_viewer_queued(inlet_gst_viewer *viewer) {
    return gst_app_src_get_current_level_buffers(GST_APP_SRC(viewer->source));
}

typedef void (*inlet_gst_reported)(void *owner, inlet_gst_feedback feedback);

// Reads the far end's reports since the last inquiry, and reports them at once, only if there are any. One at a time.
static inline void inlet_gst_viewer_inquire(inlet_gst_viewer *viewer, inlet_gst_reported reported) {
    inlet_gst_feedback feedback = inlet_gst_read_reports(&viewer->reports, viewer->web);
    if (feedback.is_known) reported(viewer->listener->owner, feedback);
}
