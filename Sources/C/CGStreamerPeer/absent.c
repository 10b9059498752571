#ifndef INLET_GSTREAMER
#include "include/CGStreamerPeer.h"

#include <stdlib.h>

// Without the trait `GStreamer`. Nothing calls the other functions, because inlet_gst_start reports that first.
const char *inlet_gst_start(void) { return ""; }

#define INLET_GST_ABSENT { abort(); }
int inlet_gst_has_element(const char *name) INLET_GST_ABSENT
int inlet_gst_has_network(void) INLET_GST_ABSENT
int inlet_gst_has_ipv4(void) INLET_GST_ABSENT
void inlet_gst_free(char *text) INLET_GST_ABSENT
inlet_gst_viewer *inlet_gst_viewer_new(
    const char *launch, void *owner, inlet_gst_told told, inlet_gst_arrived arrived, inlet_gst_release release)
    INLET_GST_ABSENT
void inlet_gst_viewer_free(inlet_gst_viewer *viewer) INLET_GST_ABSENT
void inlet_gst_viewer_prepare(inlet_gst_viewer *viewer, const char *address) INLET_GST_ABSENT
void inlet_gst_viewer_set_stun(inlet_gst_viewer *viewer, const char *uri) INLET_GST_ABSENT
int inlet_gst_viewer_add_turn(inlet_gst_viewer *viewer, const char *uri) INLET_GST_ABSENT
void inlet_gst_viewer_relay_only(inlet_gst_viewer *viewer) INLET_GST_ABSENT
int inlet_gst_viewer_play(inlet_gst_viewer *viewer) INLET_GST_ABSENT
int inlet_gst_viewer_set_remote(
    inlet_gst_viewer *viewer, int type, const char *text, unsigned length) INLET_GST_ABSENT
void inlet_gst_viewer_answer(inlet_gst_viewer *viewer) INLET_GST_ABSENT
void inlet_gst_viewer_offer(inlet_gst_viewer *viewer) INLET_GST_ABSENT
void inlet_gst_viewer_offer_further(inlet_gst_viewer *viewer) INLET_GST_ABSENT
int inlet_gst_viewer_set_further(inlet_gst_viewer *viewer, const char *text, unsigned length) INLET_GST_ABSENT
char *inlet_gst_viewer_describe(inlet_gst_viewer *viewer) INLET_GST_ABSENT
void inlet_gst_viewer_add_candidate(inlet_gst_viewer *viewer, unsigned section, const char *line) INLET_GST_ABSENT
inlet_gst_packet *inlet_gst_packet_new(
    const void *bytes, size_t count, uint64_t pts, int is_key, void *owner, inlet_gst_release release)
    INLET_GST_ABSENT
void inlet_gst_packet_free(inlet_gst_packet *packet) INLET_GST_ABSENT
int inlet_gst_viewer_push(inlet_gst_viewer *viewer, inlet_gst_packet *packet) INLET_GST_ABSENT
uint64_t inlet_gst_viewer_queued(inlet_gst_viewer *viewer) INLET_GST_ABSENT
int inlet_gst_viewer_replace(inlet_gst_viewer *viewer, const char *launch, const char *caps) INLET_GST_ABSENT
void inlet_gst_viewer_use(inlet_gst_viewer *viewer) INLET_GST_ABSENT
void inlet_gst_viewer_orient(inlet_gst_viewer *viewer, int number) INLET_GST_ABSENT
void inlet_gst_viewer_turn(inlet_gst_viewer *viewer, uint64_t pts, uint8_t quarters) INLET_GST_ABSENT
void inlet_gst_viewer_limit_resending(inlet_gst_viewer *viewer, unsigned at_once, int forgets) INLET_GST_ABSENT
void inlet_gst_viewer_inquire(inlet_gst_viewer *viewer, inlet_gst_reported reported) INLET_GST_ABSENT
int inlet_gst_viewer_receive(
    inlet_gst_viewer *viewer, const char *caps, void *owner, inlet_gst_received received, inlet_gst_crowded
    crowded, inlet_gst_release release) INLET_GST_ABSENT
void inlet_gst_viewer_ask_key(inlet_gst_viewer *viewer) INLET_GST_ABSENT
void inlet_gst_viewer_admit(inlet_gst_viewer *viewer, const uint32_t *sources, unsigned count) INLET_GST_ABSENT
void inlet_gst_viewer_hold(inlet_gst_viewer *viewer, unsigned milliseconds) INLET_GST_ABSENT
void inlet_gst_viewer_find_channels(
    inlet_gst_viewer *viewer, void *owner, inlet_gst_channel_found found, inlet_gst_release release)
    INLET_GST_ABSENT
void inlet_gst_viewer_set_longest_message(inlet_gst_viewer *viewer, size_t bytes) INLET_GST_ABSENT
inlet_gst_channel *inlet_gst_viewer_open_channel(
    inlet_gst_viewer *viewer, const char *label, int is_ordered, int retransmits, int lifetime)
    INLET_GST_ABSENT
void inlet_gst_channel_free(inlet_gst_channel *channel) INLET_GST_ABSENT
void inlet_gst_channel_listen(
    inlet_gst_channel *channel, uint64_t low, void *owner, inlet_gst_channel_told told, inlet_gst_release
    release) INLET_GST_ABSENT
inlet_gst_channel_facts inlet_gst_channel_look(inlet_gst_channel *channel) INLET_GST_ABSENT
uint64_t inlet_gst_channel_queued(inlet_gst_channel *channel) INLET_GST_ABSENT
int inlet_gst_channel_state(inlet_gst_channel *channel) INLET_GST_ABSENT
int inlet_gst_channel_send(inlet_gst_channel *channel, int is_text, const void *bytes, size_t count) INLET_GST_ABSENT
void inlet_gst_channel_close(inlet_gst_channel *channel) INLET_GST_ABSENT

#endif
