// Packets that viewers share: one buffer for all of them, which each has a reference to.

#ifdef INLET_GSTREAMER
#include "peer.h"

int inlet_gst_has_element(const char *name) {
    GstElementFactory *factory = gst_element_factory_find(name);
    if (!factory) return 0;
    gst_object_unref(factory);
    return 1;
}

GstBuffer *inlet_gst_packet_new(
    const void *bytes, size_t count, uint64_t pts, int is_key, void *owner, GDestroyNotify release) {
    GstBuffer *packet
        = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, (gpointer)bytes, count, 0, count, owner, release);
    GST_BUFFER_PTS(packet) = pts;
    if (!is_key) GST_BUFFER_FLAG_SET(packet, GST_BUFFER_FLAG_DELTA_UNIT);
    return packet;
}

void inlet_gst_packet_free(GstBuffer *packet) { gst_buffer_unref(packet); }

#endif
