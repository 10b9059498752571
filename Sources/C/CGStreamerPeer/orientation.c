// The rotation of a picture, as the RTP header extension urn:3gpp:video-orientation (3GPP TS 26.114, 7.4.5), in the
// one-byte form of RFC 8285, 4.2. GStreamer has no element for it.

#ifdef INLET_GSTREAMER
#include "peer.h"
#include <gst/rtp/gstrtpbuffer.h>

// The state of one payloader. Packets come later than their pictures are handed over, so a change begins with a time.
typedef struct {
    GMutex mutex;
    int number;
    uint8_t before, now;
    uint64_t since;  // 0 if no picture was ever turned: the extension is then omitted, which means no rotation
} inlet_gst_orientation;

static void inlet_gst_orientation_free(gpointer pointer) {
    g_mutex_clear(&((inlet_gst_orientation *)pointer)->mutex);
    g_free(pointer);
}

// Only the last packet of a picture has it: that with the marker (RFC 3550, 5.1).
static int inlet_gst_is_last(GstBuffer *packet) {
    uint8_t bits = 0;
    return gst_buffer_extract(packet, 1, &bits, 1) == 1 && (bits & 0x80);
}

static GstBuffer *inlet_gst_oriented(GstBuffer *buffer, inlet_gst_orientation *orientation) {
    g_mutex_lock(&orientation->mutex);
    uint8_t value = GST_BUFFER_PTS(buffer) < orientation->since ? orientation->before : orientation->now;
    g_mutex_unlock(&orientation->mutex);
    buffer = gst_buffer_make_writable(buffer);
    GstRTPBuffer packet = GST_RTP_BUFFER_INIT;
    if (gst_rtp_buffer_map(buffer, GST_MAP_READWRITE, &packet)) {
        gst_rtp_buffer_add_extension_onebyte_header(&packet, orientation->number, &value, 1);
        gst_rtp_buffer_unmap(&packet);
    }
    return buffer;
}

static int inlet_gst_has_turned(inlet_gst_orientation *orientation) {
    g_mutex_lock(&orientation->mutex);
    int has_turned = orientation->since > 0;
    g_mutex_unlock(&orientation->mutex);
    return has_turned;
}

static GstPadProbeReturn inlet_gst_on_packet(GstPad *pad, GstPadProbeInfo *info, gpointer orientation) {
    (void)pad;
    if (!inlet_gst_has_turned(orientation)) return GST_PAD_PROBE_OK;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
        for (guint index = 0; index < gst_buffer_list_length(list); index++) {
            GstBuffer *old = gst_buffer_list_get(list, index);
            if (!inlet_gst_is_last(old)) continue;
            // Inserted first, then removed: the list keeps its length in between.
            GstBuffer *new = inlet_gst_oriented(gst_buffer_copy(old), orientation);
            gst_buffer_list_insert(list, (gint)index, new);
            gst_buffer_list_remove(list, index + 1, 1);
        }
        info->data = list;
    } else if (inlet_gst_is_last(GST_PAD_PROBE_INFO_BUFFER(info))) {
        info->data = inlet_gst_oriented(GST_PAD_PROBE_INFO_BUFFER(info), orientation);
    }
    return GST_PAD_PROBE_OK;
}

void inlet_gst_viewer_orient(inlet_gst_viewer *viewer, int number) {
    GstElement *source = viewer->source;
    GstPad *pad = gst_element_get_static_pad(source, "src");
    GstPad *peer = pad ? gst_pad_get_peer(pad) : NULL;
    GstElement *payloader = peer ? gst_pad_get_parent_element(peer) : NULL;
    GstPad *output = payloader ? gst_element_get_static_pad(payloader, "src") : NULL;
    if (output) {
        inlet_gst_orientation *orientation = g_new0(inlet_gst_orientation, 1);
        g_mutex_init(&orientation->mutex);
        orientation->number = number;
        gst_pad_add_probe(
            output, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, inlet_gst_on_packet, orientation, NULL);
        // It ends with the source, which outlives the payloader's last packet: both are in one pipeline.
        g_object_set_data_full(G_OBJECT(source), "inlet-orientation", orientation, inlet_gst_orientation_free);
    }
    g_clear_object(&output);
    g_clear_object(&payloader);
    g_clear_object(&peer);
    g_clear_object(&pad);
}

void inlet_gst_viewer_turn(inlet_gst_viewer *viewer, uint64_t pts, uint8_t quarters) {
    inlet_gst_orientation *orientation = g_object_get_data(G_OBJECT(viewer->source), "inlet-orientation");
    if (!orientation) return;
    g_mutex_lock(&orientation->mutex);
    if (orientation->now != quarters) {
        orientation->before = orientation->now;
        orientation->now = quarters;
        orientation->since = pts;
    }
    g_mutex_unlock(&orientation->mutex);
}

#endif
