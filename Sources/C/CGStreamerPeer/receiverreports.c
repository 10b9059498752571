// The far end's reports on the packets that it receives (RFC 3550, 6.4.1). It reports from its own SSRC, which may
// change with the directions of the session. rtpsession keeps the last report block of each reporter, until it has been
// silent for long; new ones are found by comparing.

#ifdef INLET_GSTREAMER
#include "peer.h"

// Reads the statistics of one SSRC. Returns 0 if it has reported nothing.
static int inlet_gst_read_report(const GstStructure *source, uint32_t *reporter, inlet_gst_feedback *report) {
    gboolean has_report = FALSE;
    guint own = 0, ssrc = 0, last = 0, delay = 0, highest = 0, trip = 0;
    gint lost = 0;
    if (!gst_structure_get_boolean(source, "have-rb", &has_report) || !has_report) return 0;
    if (!gst_structure_get_uint(source, "rb-lsr", &last)) return 0;
    gst_structure_get_uint(source, "ssrc", &own);
    gst_structure_get_uint(source, "rb-ssrc", &ssrc);
    gst_structure_get_uint(source, "rb-dlsr", &delay);
    gst_structure_get_uint(source, "rb-exthighestseq", &highest);
    gst_structure_get_uint(source, "rb-round-trip", &trip);
    gst_structure_get_int(source, "rb-packetslost", &lost);
    *reporter = own;
    // RTCP's round trip is a 16.16 fixed-point number of seconds.
    *report = (inlet_gst_feedback){1, ssrc, last, delay, highest, lost, trip / 65536.0};
    return 1;
}

// Whether a reporter has sent a new report, which is recorded.
static int inlet_gst_is_new_report(
    inlet_gst_reports *reports, uint32_t reporter, const inlet_gst_feedback *report) {
    for (unsigned index = 0; index < reports->count; index++) {
        if (reports->known[index].reporter != reporter) continue;
        inlet_gst_feedback *last = &reports->known[index].last;
        int is_new = last->source != report->source || last->last_report != report->last_report
            || last->delay != report->delay || last->highest_sequence != report->highest_sequence
            || last->lost != report->lost;
        *last = *report;
        return is_new;
    }
    unsigned place = reports->next;
    reports->known[place].reporter = reporter;
    reports->known[place].last = *report;
    reports->next = (place + 1) % INLET_GST_MOST_REPORTERS;
    if (reports->count < INLET_GST_MOST_REPORTERS) reports->count++;
    return 1;
}

// Whether a report was made later than another, by the sender report that it has received and the time since then: 32
// bits that overflow after 18 hours. A reporter that has received none has no time.
static int inlet_gst_is_later(const inlet_gst_feedback *report, const inlet_gst_feedback *other) {
    if (!other->is_known || other->last_report == 0) return 1;
    if (report->last_report == 0) return 0;
    uint32_t since = report->last_report + report->delay - (other->last_report + other->delay);
    return since < UINT32_C(0x80000000);
}

void inlet_gst_add_report(
    inlet_gst_reports *reports, const GstStructure *source, inlet_gst_feedback *latest) {
    uint32_t reporter = 0;
    inlet_gst_feedback report = {0};
    if (!inlet_gst_read_report(source, &reporter, &report)) return;
    if (!inlet_gst_is_new_report(reports, reporter, &report)) return;
    if (inlet_gst_is_later(&report, latest)) *latest = report;
}

// Adds the reports in the statistics of an rtpsession.
static void inlet_gst_add_reports(
    inlet_gst_reports *reports, const GstStructure *statistics, inlet_gst_feedback *latest) {
    const GValue *sources = gst_structure_get_value(statistics, "source-stats");
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    if (sources && G_VALUE_HOLDS(sources, g_value_array_get_type())) {
        const GValueArray *array = g_value_get_boxed(sources);
        for (guint index = 0; array && index < array->n_values; index++) {
            const GValue *value = &array->values[index];
            if (!GST_VALUE_HOLDS_STRUCTURE(value)) continue;
            inlet_gst_add_report(reports, gst_value_get_structure(value), latest);
        }
    }
    G_GNUC_END_IGNORE_DEPRECATIONS
}

inlet_gst_feedback inlet_gst_read_reports(inlet_gst_reports *reports, GstElement *web) {
    inlet_gst_feedback latest = {0};
    GstElement *bin = gst_bin_get_by_name(GST_BIN(web), "rtpbin");
    for (guint number = 0; bin && number < INLET_GST_MOST_SESSIONS; number++) {
        GObject *session = NULL;
        GstStructure *statistics = NULL;
        g_signal_emit_by_name(bin, "get-internal-session", number, &session);
        if (session) g_object_get(session, "stats", &statistics, NULL);
        if (statistics) inlet_gst_add_reports(reports, statistics, &latest);
        g_clear_pointer(&statistics, gst_structure_free);
        g_clear_object(&session);
    }
    gst_clear_object(&bin);
    return latest;
}

#endif
