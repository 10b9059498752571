// Corrects the errors of webrtcbin 1.22 and the elements of SCTP in messages, between them: on the pads of sctpenc and
// sctpdec. Also the size of messages, which webrtcbin reads in descriptions and does not write.

#ifdef INLET_GSTREAMER
#include "peer.h"

// As in gst/sctp/sctpsendmeta.h and sctpreceivemeta.h, which are in a package that brings in OpenCV.
typedef struct {
    GstMeta meta;
    guint32 ppid;
    gboolean ordered;
    int reliability;  // 0: all messages arrive
    guint32 bound;
} inlet_gst_sctp_send_meta;

typedef struct {
    GstMeta meta;
    guint32 ppid;
} inlet_gst_sctp_receive_meta;

// RFC 8831, 8. webrtcbin has the two the wrong way round.
static const guint32 inlet_gst_empty_text = 56, inlet_gst_empty_binary = 57;

static guint32 inlet_gst_other_empty(guint32 ppid) {
    if (ppid == inlet_gst_empty_text) return inlet_gst_empty_binary;
    return ppid == inlet_gst_empty_binary ? inlet_gst_empty_text : ppid;
}

static GstMeta *inlet_gst_sctp_meta(GstBuffer *buffer, const char *api) {
    GType type = g_type_from_name(api);
    return type ? gst_buffer_get_meta(buffer, type) : NULL;
}

// An outgoing message. SCTP has no empty ones, so one byte of zero represents each (RFC 8831, 6.6). The bound of
// retransmissions or time goes to usrsctp in network order, which expects the order of the host.
static GstPadProbeReturn inlet_gst_on_sctp_sent(GstPad *pad, GstPadProbeInfo *info, gpointer unused) {
    (void)pad, (void)unused;
    GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
    info->data = buffer;
    inlet_gst_sctp_send_meta *meta
        = (inlet_gst_sctp_send_meta *)inlet_gst_sctp_meta(buffer, "GstSctpSendMetaAPI");
    if (!meta) return GST_PAD_PROBE_OK;
    if (gst_buffer_get_size(buffer) == 0) {
        gst_buffer_append_memory(buffer, gst_memory_new_wrapped(0, g_malloc0(1), 1, 0, 1, NULL, NULL));
        meta->ppid = inlet_gst_other_empty(meta->ppid);
    }
    if (meta->reliability != 0) meta->bound = GUINT32_SWAP_LE_BE(meta->bound);
    return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn inlet_gst_on_sctp_received(GstPad *pad, GstPadProbeInfo *info, gpointer unused) {
    (void)pad, (void)unused;
    static const char api[] = "GstSctpReceiveMetaAPI";
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    inlet_gst_sctp_receive_meta *meta = (inlet_gst_sctp_receive_meta *)inlet_gst_sctp_meta(buffer, api);
    if (!meta || inlet_gst_other_empty(meta->ppid) == meta->ppid) return GST_PAD_PROBE_OK;
    info->data = buffer = gst_buffer_make_writable(buffer);
    meta = (inlet_gst_sctp_receive_meta *)inlet_gst_sctp_meta(buffer, api);
    if (meta) meta->ppid = inlet_gst_other_empty(meta->ppid);
    return GST_PAD_PROBE_OK;
}

// Called for each stream's pad.
static void inlet_gst_on_sctp_pad(GstElement *element, GstPad *pad, gpointer unused) {
    (void)element, (void)unused;
    int is_sent = GST_PAD_DIRECTION(pad) == GST_PAD_SINK;
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, is_sent ? inlet_gst_on_sctp_sent : inlet_gst_on_sctp_received,
        NULL, NULL);
}

static void inlet_gst_on_sctp_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer unused) {
    (void)bin, (void)inner, (void)unused;
    GstElementFactory *factory = gst_element_get_factory(element);
    const char *name = factory ? GST_OBJECT_NAME(factory) : NULL;
    if (g_strcmp0(name, "sctpenc") && g_strcmp0(name, "sctpdec")) return;
    g_signal_connect(element, "pad-added", G_CALLBACK(inlet_gst_on_sctp_pad), NULL);
}

void inlet_gst_mend_messages(GstElement *pipeline) {
    g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(inlet_gst_on_sctp_element), NULL);
}

#define INLET_GST_LONGEST_MESSAGE "inlet-longest-message"

void inlet_gst_viewer_set_longest_message(inlet_gst_viewer *viewer, size_t bytes) {
    g_object_set_data(G_OBJECT(viewer->web), INLET_GST_LONGEST_MESSAGE, GSIZE_TO_POINTER(bytes));
}

void inlet_gst_state_longest_message(GstElement *web, GstSDPMessage *sdp) {
    size_t bytes = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(web), INLET_GST_LONGEST_MESSAGE));
    for (guint index = 0; bytes && index < gst_sdp_message_medias_len(sdp); index++) {
        GstSDPMedia *media = &g_array_index(sdp->medias, GstSDPMedia, index);
        if (g_strcmp0(gst_sdp_media_get_media(media), "application")) continue;
        if (gst_sdp_media_get_attribute_val(media, "max-message-size")) continue;
        gchar *text = g_strdup_printf("%zu", bytes);
        gst_sdp_media_add_attribute(media, "max-message-size", text);
        g_free(text);
    }
}

#endif
