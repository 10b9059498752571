// The data that a peer sends: its RTP packets in order, from webrtcbin's jitter buffer, and its RTCP.

#ifdef INLET_GSTREAMER
#include "peer.h"
#include <gst/video/video-event.h>

static gpointer inlet_gst_receiver_ref(inlet_gst_receiver *receiver) {
    g_atomic_int_inc(&receiver->references);
    return receiver;
}

void inlet_gst_receiver_unref(gpointer pointer) {
    inlet_gst_receiver *receiver = pointer;
    if (!g_atomic_int_dec_and_test(&receiver->references)) return;
    receiver->release(receiver->owner);
    g_mutex_clear(&receiver->mutex);
    g_free(receiver);
}

static void inlet_gst_receiver_closure_notify(gpointer receiver, GClosure *closure) {
    (void)closure;
    inlet_gst_receiver_unref(receiver);
}

static void inlet_gst_receive(inlet_gst_receiver *receiver, GstBuffer *buffer) {
    GstMapInfo map;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) return;
    receiver->received(receiver->owner, map.data, map.size);
    gst_buffer_unmap(buffer, &map);
}

static void inlet_gst_receive_all(inlet_gst_receiver *receiver, GstPadProbeInfo *info) {
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
        inlet_gst_receive(receiver, GST_PAD_PROBE_INFO_BUFFER(info));
    } else if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
        for (guint index = 0; index < gst_buffer_list_length(list); index++) {
            inlet_gst_receive(receiver, gst_buffer_list_get(list, index));
        }
    }
}

static GstPadProbeReturn inlet_gst_on_received(GstPad *pad, GstPadProbeInfo *info, gpointer receiver) {
    (void)pad;
    inlet_gst_receive_all(receiver, info);
    return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn inlet_gst_on_control(GstPad *pad, GstPadProbeInfo *info, gpointer receiver) {
    (void)pad;
    inlet_gst_receive_all(receiver, info);
    return GST_PAD_PROBE_OK;
}

static void inlet_gst_probe(
    GstPad *pad, inlet_gst_receiver *receiver, GstPadProbeReturn (*probe)(GstPad *, GstPadProbeInfo *, gpointer)) {
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, probe,
        inlet_gst_receiver_ref(receiver), inlet_gst_receiver_unref);
}

// Whether an SSRC is one of these, or becomes one because there is room.
static int inlet_gst_add_source(uint32_t *sources, unsigned *count, unsigned most, uint32_t source) {
    for (unsigned index = 0; index < *count; index++) {
        if (sources[index] == source) return 1;
    }
    if (*count >= most) return 0;
    sources[(*count)++] = source;
    return 1;
}

// Whether a packet enters, by its SSRC (RFC 3550, 5.1).
static int inlet_gst_enters(inlet_gst_receiver *receiver, GstBuffer *packet) {
    uint8_t header[12];
    if (gst_buffer_extract(packet, 0, header, sizeof header) != sizeof header) return 0;
    uint32_t source = GST_READ_UINT32_BE(header + 8);
    inlet_gst_gate *gate = &receiver->gate;
    g_mutex_lock(&receiver->mutex);
    unsigned most = gate->is_open ? INLET_GST_MOST_SOURCES : 0;
    int is_admitted = inlet_gst_add_source(gate->sources, &gate->count, most, source);
    int enters = is_admitted
        && inlet_gst_add_source(gate->buffers, &gate->buffer_count, INLET_GST_MOST_BUFFERS, source);
    int is_news = !enters && (gate->is_open || is_admitted) && !gate->is_crowded;
    if (is_news) gate->is_crowded = 1;
    g_mutex_unlock(&receiver->mutex);
    if (is_news) receiver->crowded(receiver->owner);
    return enters;
}

static gboolean inlet_gst_pass(GstBuffer **packet, guint index, gpointer receiver) {
    (void)index;
    if (!inlet_gst_enters(receiver, *packet)) g_clear_pointer(packet, gst_buffer_unref);
    return TRUE;
}

static GstPadProbeReturn inlet_gst_on_entry(GstPad *pad, GstPadProbeInfo *info, gpointer receiver) {
    (void)pad;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
        info->data = list;
        gst_buffer_list_foreach(list, inlet_gst_pass, receiver);
        return gst_buffer_list_length(list) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
    }
    return inlet_gst_enters(receiver, GST_PAD_PROBE_INFO_BUFFER(info)) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

// Called for each pad that rtpsession makes: RTP and RTCP are seen here after they were decrypted.
static void inlet_gst_on_session_pad(GstElement *session, GstPad *pad, gpointer pointer) {
    (void)session;
    inlet_gst_receiver *receiver = pointer;
    gchar *name = gst_pad_get_name(pad);
    if (g_str_has_prefix(name, "recv_rtcp_sink")) inlet_gst_probe(pad, receiver, inlet_gst_on_control);
    if (receiver->gate.is_used && g_str_has_prefix(name, "recv_rtp_sink")) {
        inlet_gst_probe(pad, receiver, inlet_gst_on_entry);
    }
    g_free(name);
}

static void inlet_gst_on_receiving_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer receiver) {
    (void)bin, (void)inner;
    GstElementFactory *factory = gst_element_get_factory(element);
    if (!factory || g_strcmp0(GST_OBJECT_NAME(factory), "rtpsession")) return;
    g_signal_connect_data(element, "pad-added", G_CALLBACK(inlet_gst_on_session_pad),
        inlet_gst_receiver_ref(receiver), inlet_gst_receiver_closure_notify, 0);
}

// Called for each pad of webrtcbin. Tracks after the first, such as those of another SSRC, are discarded here.
static void inlet_gst_on_track(GstElement *web, GstPad *pad, gpointer pointer) {
    inlet_gst_receiver *receiver = pointer;
    if (GST_PAD_DIRECTION(pad) != GST_PAD_SRC) return;
    GstObject *pipeline = gst_object_get_parent(GST_OBJECT(web));
    GstElement *sink = pipeline ? gst_element_factory_make("fakesink", NULL) : NULL;
    if (sink) {
        g_object_set(sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
        gst_bin_add(GST_BIN(pipeline), sink);
        GstPad *end = gst_element_get_static_pad(sink, "sink");
        inlet_gst_probe(end, receiver, inlet_gst_on_received);
        gst_element_sync_state_with_parent(sink);
        gst_pad_link(pad, end);
        gst_object_unref(end);
    }
    gst_clear_object(&pipeline);
}

// Called for each transceiver that the peer's description adds: audio, and further video, are not received.
static void inlet_gst_on_further_transceiver(GstElement *web, GObject *transceiver, gpointer unused) {
    (void)web, (void)unused;
    g_object_set(transceiver, "direction", inlet_gst_inactive, NULL);
}

// The transceiver by which a peer's video is received; NULL if webrtcbin has none.
static GObject *inlet_gst_receiving_transceiver(GstElement *web, const char *caps) {
    GObject *transceiver = NULL;
    if (!caps) {
        g_signal_emit_by_name(web, "get-transceiver", 0, &transceiver);
        if (transceiver) g_object_set(transceiver, "direction", inlet_gst_sendrecv, NULL);
        return transceiver;
    }
    GstCaps *format = gst_caps_from_string(caps);
    if (format) g_signal_emit_by_name(web, "add-transceiver", inlet_gst_recvonly, format, &transceiver);
    gst_clear_caps(&format);
    return transceiver;
}

inlet_gst_receiver *inlet_gst_receiver_new(
    GstElement *pipeline, GstElement *web, const char *caps, void *owner, inlet_gst_received received,
    inlet_gst_crowded crowded, inlet_gst_release release) {
    inlet_gst_receiver *receiver = g_new0(inlet_gst_receiver, 1);
    *receiver = (inlet_gst_receiver){
        .references = 1, .received = received, .crowded = crowded, .release = release, .owner = owner};
    receiver->gate.is_used = !caps;
    g_mutex_init(&receiver->mutex);
    GObject *transceiver = inlet_gst_receiving_transceiver(web, caps);
    if (!transceiver) {
        inlet_gst_receiver_unref(receiver);
        return NULL;
    }
    g_object_set(transceiver, "do-nack", TRUE, NULL);
    g_object_unref(transceiver);
    g_signal_connect(web, "on-new-transceiver", G_CALLBACK(inlet_gst_on_further_transceiver), NULL);
    g_signal_connect_data(web, "pad-added", G_CALLBACK(inlet_gst_on_track), inlet_gst_receiver_ref(receiver),
        inlet_gst_receiver_closure_notify, 0);
    g_signal_connect_data(pipeline, "deep-element-added", G_CALLBACK(inlet_gst_on_receiving_element),
        inlet_gst_receiver_ref(receiver), inlet_gst_receiver_closure_notify, 0);
    return receiver;
}

static void inlet_gst_ask_pad(const GValue *pad, gpointer unused) {
    (void)unused;
    GstEvent *request = gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, FALSE, 0);
    gst_pad_send_event(g_value_get_object(pad), request);
}

// webrtcbin has a pad for each codec that the peer has sent. rtpsession ignores a request by the pad of a codec that is
// no longer agreed on, and the codec that the peer sends now is not known here. The peer gets one request for all.
void inlet_gst_viewer_ask_key(inlet_gst_viewer *viewer) {
    if (!viewer->receiver) return;
    GstIterator *pads = gst_element_iterate_src_pads(viewer->web);
    while (gst_iterator_foreach(pads, inlet_gst_ask_pad, NULL) == GST_ITERATOR_RESYNC) gst_iterator_resync(pads);
    gst_iterator_free(pads);
}

void inlet_gst_viewer_admit(inlet_gst_viewer *viewer, const uint32_t *sources, unsigned count) {
    inlet_gst_receiver *receiver = viewer->receiver;
    if (!receiver) return;
    inlet_gst_gate *gate = &receiver->gate;
    g_mutex_lock(&receiver->mutex);
    gate->is_open = count == 0;
    gate->count = MIN(count, INLET_GST_MOST_SOURCES);
    for (unsigned index = 0; index < gate->count; index++) gate->sources[index] = sources[index];
    int is_news = count > INLET_GST_MOST_SOURCES && !gate->is_crowded;
    if (is_news) gate->is_crowded = 1;
    g_mutex_unlock(&receiver->mutex);
    if (is_news) receiver->crowded(receiver->owner);
}

#endif
