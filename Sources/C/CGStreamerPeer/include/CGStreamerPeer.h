#pragma once

// A WebRTC peer by GStreamer: its pipeline, its data channels and the packets that it sends and receives. Without the
// trait `GStreamer`, inlet_gst_start reports that, and all other functions end the process.
//
// Functions may be called on any thread. Callbacks must not block; GStreamer calls them on its threads, except for
// those whose comment states otherwise.
#include <stddef.h>
#include <stdint.h>

// A peer's pipeline.
typedef struct inlet_gst_viewer inlet_gst_viewer;
// A data channel.
typedef struct _GObject inlet_gst_channel;
// An encoded picture.
typedef struct _GstBuffer inlet_gst_packet;

// Called when the last callback with this owner has ended.
typedef void (*inlet_gst_release)(void *owner);

// Starts GStreamer once in a process. Returns NULL; the name of a missing part, which is constant; or an empty text in
// a build without the trait.
const char *inlet_gst_start(void);

// Whether an element can be made.
int inlet_gst_has_element(const char *name);

// Whether the machine has an address that is not its own loopback's.
int inlet_gst_has_network(void);

// Whether candidates of IPv4 are gathered if no address is given: the machine has one, or only the loopback's is used.
int inlet_gst_has_ipv4(void);

// Frees a text that a function of this header returned. NULL is allowed.
void inlet_gst_free(char *text);

// MARK: Peers

// The events of a peer. The meaning of `number` and `text` is given for each; `text` is valid during the call.
static const int inlet_gst_remote_set = 0;
static const int inlet_gst_local_set = 1;   // text: the description
static const int inlet_gst_all_found = 2;
static const int inlet_gst_path = 3;        // number: the state of the connection, one of the four below
static const int inlet_gst_wants_key = 4;
static const int inlet_gst_error = 5;       // text: the failure
static const int inlet_gst_candidate = 6;   // number: the media section; text: the line
static const int inlet_gst_offer_made = 7;  // text: the offer, which is not set
typedef void (*inlet_gst_told)(void *owner, int what, int number, const char *text);

static const int inlet_gst_connected = 2;
static const int inlet_gst_disconnected = 3;
static const int inlet_gst_failed = 4;
static const int inlet_gst_closed = 5;

// A summary of a peer's report on each packet (transport-wide congestion control). Times are in nanoseconds.
typedef struct {
    int expected, lost;
    uint64_t bits;  // of packets that arrived
    // From the last arrival in the previous report to the last in this one; 0 for the first.
    int64_t span;
    // The least difference of arrival time and sending time, by two clocks.
    int64_t shortest;
    // The time when the last of these packets was sent, by this end's clock; UINT64_MAX if unknown.
    uint64_t newest;
    int has_arrivals;
} inlet_gst_arrivals;
typedef void (*inlet_gst_arrived)(void *owner, inlet_gst_arrivals arrivals);

// Makes a pipeline with a webrtcbin named `web` and, to send, an appsrc named `source`. Releases the owner when the
// last callback is gone, also if it returns NULL; `told` has then reported the reason on the caller's thread. All
// pipelines count time from zero of the monotonic clock, so that a capture time is a PTS in each.
inlet_gst_viewer *inlet_gst_viewer_new(
    const char *launch, void *owner, inlet_gst_told told, inlet_gst_arrived arrived, inlet_gst_release release);

// Closes a peer: its threads have ended when this returns. Not in a callback of the peer, which would wait for itself.
void inlet_gst_viewer_free(inlet_gst_viewer *viewer);

// Prevents the ICE agent from asking a router, which takes 200 ms, and makes it gather only at `address` unless that is
// NULL.
void inlet_gst_viewer_prepare(inlet_gst_viewer *viewer, const char *address);

void inlet_gst_viewer_set_stun(inlet_gst_viewer *viewer, const char *uri);

// Returns 0 if the address is refused.
int inlet_gst_viewer_add_turn(inlet_gst_viewer *viewer, const char *uri);

// Makes media always go through a relay: no other candidate is sent.
void inlet_gst_viewer_relay_only(inlet_gst_viewer *viewer);

// Starts the pipeline. Returns 0 on failure.
int inlet_gst_viewer_play(inlet_gst_viewer *viewer);

// MARK: Descriptions

// The kinds of descriptions.
static const int inlet_gst_offer = 1;
static const int inlet_gst_answered = 3;

// Sets the peer's description, and reports when it is set. Returns 0 if the text is not SDP.
int inlet_gst_viewer_set_remote(inlet_gst_viewer *viewer, int type, const char *text, unsigned length);

// Makes an answer and sets it, and reports when it is set.
void inlet_gst_viewer_answer(inlet_gst_viewer *viewer);

// Makes an offer and sets it, and reports when it is set.
void inlet_gst_viewer_offer(inlet_gst_viewer *viewer);

// Makes a further offer without setting it, and reports when it is made.
void inlet_gst_viewer_offer_further(inlet_gst_viewer *viewer);

// Sets a further offer that was made, right before its answer. Returns 0 if the text is not SDP.
int inlet_gst_viewer_set_further(inlet_gst_viewer *viewer, const char *text, unsigned length);

// Returns this side's description with the candidates so far, to be freed by inlet_gst_free; NULL before it is set.
char *inlet_gst_viewer_describe(inlet_gst_viewer *viewer);

void inlet_gst_viewer_add_candidate(inlet_gst_viewer *viewer, unsigned section, const char *line);

// MARK: Sending

// Returns a packet around bytes that `owner` keeps; `release` is called with it when no peer needs them any more.
//
// - pts: in nanoseconds of the monotonic clock.
inlet_gst_packet *inlet_gst_packet_new(
    const void *bytes, size_t count, uint64_t pts, int is_key, void *owner, inlet_gst_release release);

void inlet_gst_packet_free(inlet_gst_packet *packet);

// Hands over a packet, which others may have as well. Returns whether it was accepted. Called by one thread at a time.
int inlet_gst_viewer_push(inlet_gst_viewer *viewer, inlet_gst_packet *packet);

// Returns the number of packets that were handed over and not sent yet.
uint64_t inlet_gst_viewer_queued(inlet_gst_viewer *viewer);

// Puts another chain, of an appsrc named `source` and a payloader named `payloader`, before the same pad of webrtcbin,
// and continues its packet numbers: SRTP and peers would not notice a restart. `caps` are those of its output. The old
// chain is removed first: packets are sent again after inlet_gst_viewer_use. Returns 0 on failure; the peer then sends
// nothing more. The caller must not push meanwhile.
int inlet_gst_viewer_replace(inlet_gst_viewer *viewer, const char *launch, const char *caps);

// Sends packets to the source of the last replacement. No packet is handed over meanwhile.
void inlet_gst_viewer_use(inlet_gst_viewer *viewer);

// Makes the payloader after the source state the rotation of pictures, under the header extension's number.
void inlet_gst_viewer_orient(inlet_gst_viewer *viewer, int number);

// Turns pictures from `pts` on clockwise by a number of quarters. Does nothing if the extension was not negotiated.
void inlet_gst_viewer_turn(inlet_gst_viewer *viewer, uint64_t pts, uint8_t quarters);

// Sets how many packets may be resent at once; earlier requests are dropped if `forgets`.
void inlet_gst_viewer_limit_resending(inlet_gst_viewer *viewer, unsigned at_once, int forgets);

// The far end's last report on the packets that it received (RFC 3550, 6.4.1).
typedef struct {
    int is_known;
    // The SSRC that the report is about: that of the media, or that of retransmissions, whichever came last in the
    // report.
    uint32_t source;
    uint32_t last_report;       // the middle of the time of the last sender report that it has received
    uint32_t delay;             // since then, in 1/65536 s
    uint32_t highest_sequence;  // extended
    int64_t lost;               // in total
    double round_trip;          // seconds
} inlet_gst_feedback;
typedef void (*inlet_gst_reported)(void *owner, inlet_gst_feedback feedback);

// Reads the far end's reports since the last inquiry, and calls `reported` with the last one before it returns, if
// there is any. One at a time.
void inlet_gst_viewer_inquire(inlet_gst_viewer *viewer, inlet_gst_reported reported);

// MARK: Receiving

// Called with the bytes of a packet of RTP or RTCP, which are valid during the call.
typedef void (*inlet_gst_received)(void *owner, const void *bytes, size_t count);

// Called once when packets do not enter webrtcbin because there are too many SSRCs; inlet_gst_viewer_admit may call it
// on the caller's thread.
typedef void (*inlet_gst_crowded)(void *owner);

// Begins to receive the peer's video, in the format of `caps`, before any description is set; if that is NULL, in the
// media section that sends, once inlet_gst_viewer_admit sets the admitted packets. Releases the owner when the last
// callback is gone, also if it returns 0, which means that webrtcbin cannot.
int inlet_gst_viewer_receive(
    inlet_gst_viewer *viewer, const char *caps, void *owner, inlet_gst_received received, inlet_gst_crowded crowded,
    inlet_gst_release release);

// Requests a key frame from the peer, by PLI. Does nothing before its first packet.
void inlet_gst_viewer_ask_key(inlet_gst_viewer *viewer);

// Admits packets of the SSRCs that the peer's description names; if it names none, of the first that come from now on.
// Those of the previous description are replaced.
void inlet_gst_viewer_admit(inlet_gst_viewer *viewer, const uint32_t *sources, unsigned count);

// Sets how long later packets wait for a missing one, in milliseconds.
void inlet_gst_viewer_hold(inlet_gst_viewer *viewer, unsigned milliseconds);

// MARK: Data channels

// The events of a channel. `bytes` are valid during the call.
static const int inlet_gst_channel_opened = 0;
static const int inlet_gst_channel_closed = 1;
static const int inlet_gst_channel_failed = 2;   // bytes: the failure
static const int inlet_gst_channel_text = 3;
static const int inlet_gst_channel_binary = 4;
static const int inlet_gst_channel_drained = 5;  // no more bytes wait than the threshold
typedef void (*inlet_gst_channel_told)(void *owner, int what, const void *bytes, size_t count);

// Channels that the peer opens are handed over, each with a reference.
typedef void (*inlet_gst_channel_found)(void *owner, inlet_gst_channel *channel);

void inlet_gst_viewer_find_channels(
    inlet_gst_viewer *viewer, void *owner, inlet_gst_channel_found found, inlet_gst_release release);

// Sets the most bytes of a message that descriptions of this side state (RFC 8841, 6).
void inlet_gst_viewer_set_longest_message(inlet_gst_viewer *viewer, size_t bytes);

// Opens a channel, before the offer; NULL if there can be none. `retransmits` and `lifetime`, in milliseconds, are
// bounds, of which one may be given; the other, or both, are -1.
inlet_gst_channel *inlet_gst_viewer_open_channel(
    inlet_gst_viewer *viewer, const char *label, int is_ordered, int retransmits, int lifetime);

void inlet_gst_channel_free(inlet_gst_channel *channel);

// Makes a channel report its events, also when `low` bytes or fewer wait again. Releases the owner when the last
// callback is gone.
void inlet_gst_channel_listen(inlet_gst_channel *channel, uint64_t low, void *owner, inlet_gst_channel_told told,
    inlet_gst_release release);

// The properties of a channel. `label` and `protocol` must be freed by inlet_gst_free, and may be NULL.
typedef struct {
    char *label, *protocol;
    int is_ordered, retransmits, lifetime;
} inlet_gst_channel_facts;

inlet_gst_channel_facts inlet_gst_channel_look(inlet_gst_channel *channel);

// Returns the number of bytes that were handed over and not sent yet.
uint64_t inlet_gst_channel_queued(inlet_gst_channel *channel);

// The state of a channel that can send.
static const int inlet_gst_channel_open = 2;

int inlet_gst_channel_state(inlet_gst_channel *channel);

// Hands a message over. Returns 0 if the channel is not open; later failures are reported as events.
int inlet_gst_channel_send(inlet_gst_channel *channel, int is_text, const void *bytes, size_t count);

void inlet_gst_channel_close(inlet_gst_channel *channel);
