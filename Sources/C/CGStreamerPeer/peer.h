#pragma once

// Shared by the files of this module, and by its tests.
#include "include/CGStreamerPeer.h"

#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/sdp/sdp.h>

// From gst/webrtc/webrtc_fwd.h and rtcsessiondescription.h, whose package, libgstreamer-plugins-bad1.0-dev, brings in
// all of OpenCV.
typedef struct {
    int type;
    GstSDPMessage *sdp;
} inlet_gst_description;

// Directions of a transceiver.
static const int inlet_gst_inactive = 1, inlet_gst_sendonly = 2, inlet_gst_recvonly = 3, inlet_gst_sendrecv = 4;

// The budget for resending packets: a fraction of the sent packets, and some at once. rtprtxsend resends everything on
// request, so behind a full link a viewer that requests all missing packets would be sent many times the link's
// capacity.
typedef struct {
    GMutex mutex;
    double credit, at_once;
} inlet_gst_budget;

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

gpointer inlet_gst_listener_ref(inlet_gst_listener *listener);

void inlet_gst_listener_unref(gpointer pointer);

void inlet_gst_tell(inlet_gst_listener *listener, int what, int number, const char *text);

void inlet_gst_on_element(GstBin *bin, GstBin *inner, GstElement *element, gpointer listener);

// Frees the receiving parts of a closed webrtcbin. A receiving bin blocks a pad for as long as ICE is not connected,
// and the block holds the bin. The bin removes the block when it is closed, but makes another for a state of ICE that
// is reported then or later. Such a bin would stay, and with it the ICE agent and its sockets.
void inlet_gst_release_receivers(GstElement *web);

// The most SSRCs whose packets enter webrtcbin if they are checked: of one description, and in its life, because it
// makes a jitter buffer for each and keeps it.
#define INLET_GST_MOST_SOURCES 8
#define INLET_GST_MOST_BUFFERS 64

// The SSRCs whose RTP enters webrtcbin. Guarded by the receiver's mutex.
typedef struct {
    int is_used;  // 0 if all packets enter
    uint32_t sources[INLET_GST_MOST_SOURCES];
    unsigned count;
    int is_open;                                // whether further sources enter, up to the most
    uint32_t buffers[INLET_GST_MOST_BUFFERS];  // the sources that have entered
    unsigned buffer_count;
    int is_crowded;  // whether the owner was notified
} inlet_gst_gate;

// The object that the callbacks of a receiving peer hold. The owner is released with the last of them.
typedef struct {
    gint references;
    inlet_gst_received received;
    inlet_gst_crowded crowded;
    inlet_gst_release release;
    void *owner;
    GMutex mutex;
    inlet_gst_gate gate;  // guarded by the mutex
} inlet_gst_receiver;

void inlet_gst_receiver_unref(gpointer pointer);

// Begins to receive the peer's video, in the format of `caps`, before any description is set; if that is NULL, in the
// media section that sends, once inlet_gst_viewer_admit sets the admitted packets. Releases the owner when the last
// callback is gone, also if it returns NULL. Release the result with inlet_gst_receiver_unref.
inlet_gst_receiver *inlet_gst_receiver_new(
    GstElement *pipeline, GstElement *web, const char *caps, void *owner, inlet_gst_received received,
    inlet_gst_crowded crowded, inlet_gst_release release);

// The most remembered reporters; a further one replaces the one that was found first.
enum { INLET_GST_MOST_REPORTERS = 8, INLET_GST_MOST_SESSIONS = 8 };

typedef struct {
    struct {
        uint32_t reporter;
        inlet_gst_feedback last;
    } known[INLET_GST_MOST_REPORTERS];
    unsigned count, next;
} inlet_gst_reports;

// Adds the report of one SSRC to those of the same inquiry: the latest of the new ones remains.
void inlet_gst_add_report(
    inlet_gst_reports *reports, const GstStructure *source, inlet_gst_feedback *latest);

// Returns the latest of the reports that are new since the last inquiry, of all sessions of a webrtcbin, whose numbers
// are those of media sections. Without new reports the result is unknown. Its own statistics have one report for each
// SSRC of this end, whichever of the far end's SSRCs made it.
inlet_gst_feedback inlet_gst_read_reports(inlet_gst_reports *reports, GstElement *web);

void inlet_gst_mend_messages(GstElement *pipeline);

void inlet_gst_state_longest_message(GstElement *web, GstSDPMessage *sdp);

// Reads a report; `latest` is the last known arrival, GST_CLOCK_TIME_NONE before the first. Returns 0 for any other
// event.
int inlet_gst_read_arrivals(const GstEvent *event, guint64 *latest, inlet_gst_arrivals *sum);

// A peer's pipeline. `source` is NULL if nothing is sent, `receiver` if nothing is received.
struct inlet_gst_viewer {
    GstElement *pipeline, *web, *source;
    GstElement *next;  // the source of a replacement that is not in use yet
    inlet_gst_listener *listener;
    inlet_gst_receiver *receiver;
    inlet_gst_reports reports;
    GstClockTime last;  // the time of the last packet that was handed over
};
