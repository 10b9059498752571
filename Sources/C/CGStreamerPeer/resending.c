#ifdef INLET_GSTREAMER
#include "peer.h"

static const double inlet_gst_resent_part = 0.25;

static GstPadProbeReturn inlet_gst_on_retransmission(GstPad *pad, GstPadProbeInfo *info, gpointer pointer) {
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

static void inlet_gst_arrivals_reader_free(gpointer reader) {
    inlet_gst_listener_unref(((inlet_gst_arrivals_reader *)reader)->listener);
    g_free(reader);
}

// Reports come one after another, because rtpsession reads one RTCP packet at a time.
static GstPadProbeReturn inlet_gst_on_arrivals(GstPad *pad, GstPadProbeInfo *info, gpointer pointer) {
    (void)pad;
    inlet_gst_arrivals_reader *reader = pointer;
    inlet_gst_arrivals arrivals;
    if (inlet_gst_read_arrivals(GST_PAD_PROBE_INFO_EVENT(info), &reader->latest, &arrivals))
        reader->listener->arrived(reader->listener->owner, arrivals);
    return GST_PAD_PROBE_OK;
}

void inlet_gst_on_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer listener) {
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

void inlet_gst_viewer_limit_resending(inlet_gst_viewer *viewer, unsigned at_once, int forgets) {
    inlet_gst_budget *budget = &viewer->listener->budget;
    g_mutex_lock(&budget->mutex);
    budget->at_once = at_once;
    budget->credit = forgets ? 0 : MIN(budget->credit, budget->at_once);
    g_mutex_unlock(&budget->mutex);
}

#endif
