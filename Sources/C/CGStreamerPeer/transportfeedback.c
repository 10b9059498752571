// The reports of a peer on each packet. rtpsession sends each by an event upstream, `RTPTWCCPackets`; it passes
// rtpfunnel, which every webrtcbin with bundled media has.

#ifdef INLET_GSTREAMER
#include "peer.h"

static void inlet_gst_read_arrival(const GstStructure *packet, inlet_gst_arrivals *sum, guint64 *latest) {
    guint64 sent = GST_CLOCK_TIME_NONE, arrived = GST_CLOCK_TIME_NONE;
    guint size = 0;
    gboolean lost = FALSE;
    gst_structure_get_uint64(packet, "local-ts", &sent);
    gst_structure_get_uint64(packet, "remote-ts", &arrived);
    gst_structure_get_uint(packet, "size", &size);
    gst_structure_get_boolean(packet, "lost", &lost);
    sum->expected++;
    if (GST_CLOCK_TIME_IS_VALID(sent) && (!GST_CLOCK_TIME_IS_VALID(sum->newest) || sent > sum->newest)) {
        sum->newest = sent;
    }
    if (lost || !GST_CLOCK_TIME_IS_VALID(arrived)) {
        sum->lost++;
        return;
    }
    sum->bits += (uint64_t)size * 8;
    // Far back, too: the reference time has 24 bits of 64 ms (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1),
    // and restarts after 12 days.
    if (*latest == GST_CLOCK_TIME_NONE || arrived > *latest || *latest - arrived > 5 * GST_SECOND) *latest = arrived;
    if (!GST_CLOCK_TIME_IS_VALID(sent)) return;
    int64_t difference = (int64_t)(arrived - sent);
    if (!sum->has_arrivals || difference < sum->shortest) sum->shortest = difference;
    sum->has_arrivals = 1;
}

int inlet_gst_read_arrivals(const GstEvent *event, guint64 *latest, inlet_gst_arrivals *sum) {
    const GstStructure *structure = gst_event_get_structure((GstEvent *)event);
    if (!structure || !gst_structure_has_name(structure, "RTPTWCCPackets")) return 0;
    const GValue *packets = gst_structure_get_value(structure, "packets");
    if (!packets) return 0;
    *sum = (inlet_gst_arrivals){.newest = GST_CLOCK_TIME_NONE};
    guint64 before = *latest;
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    if (G_VALUE_HOLDS(packets, g_value_array_get_type())) {
        const GValueArray *array = g_value_get_boxed(packets);
        for (guint index = 0; array && index < array->n_values; index++) {
            const GValue *value = &array->values[index];
            if (GST_VALUE_HOLDS_STRUCTURE(value)) inlet_gst_read_arrival(gst_value_get_structure(value), sum, latest);
        }
    }
    G_GNUC_END_IGNORE_DEPRECATIONS
    if (before != GST_CLOCK_TIME_NONE && *latest != GST_CLOCK_TIME_NONE) sum->span = (int64_t)(*latest - before);
    return sum->expected > 0;
}

#endif
