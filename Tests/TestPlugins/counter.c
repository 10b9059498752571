/*
 * A sink that counts pictures and adds up the bytes of their first planes. It reports both by an error for each item,
 * and by a log line in finish.
 */
#include <inlet_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inlet_sink {
    const inlet_sink_host *host;
    unsigned pictures, packets;
    unsigned long sum;
};

static const inlet_host *inlet;

static inlet_result create(
    const inlet_configuration *configuration, const inlet_sink_host *host, inlet_sink **sink, inlet_sink_wants *wants,
    inlet_error *error) {
    (void)configuration, (void)error;
    *sink = calloc(1, sizeof **sink);
    (*sink)->host = host;
    wants->width = 320;
    wants->frame_rate = (inlet_rational){10, 1};
    return INLET_OK;
}

static inlet_result start(inlet_sink *sink, int64_t deadline, const inlet_stream *stream, inlet_error *error) {
    (void)sink, (void)deadline, (void)error;
    return stream->width == 4 ? INLET_OK : INLET_ERROR_UNSUPPORTED;
}

static inlet_result consume(inlet_sink *sink, int64_t deadline, const inlet_item *item, inlet_error *error) {
    (void)deadline, (void)error;
    if (item->is_packet) {
        sink->packets++;
        for (uint64_t i = 0; i < item->packet.length; i++) sink->sum += item->packet.data[i];
        sink->host->request_key_frame(sink->host->context);
        return INLET_OK;
    }
    const inlet_plane *plane = &item->picture.planes[0];
    for (uint32_t y = 0; y < item->picture.height; y++)
        for (uint32_t x = 0; x < item->picture.width; x++)
            sink->sum += plane->data[plane->offset + (uint64_t)y * (uint64_t)plane->stride + x];
    return ++sink->pictures == 3 ? INLET_END : INLET_OK;
}

static inlet_result finish(inlet_sink *sink, int64_t deadline, inlet_error *error) {
    (void)deadline, (void)error;
    char text[64];
    snprintf(text, sizeof text, "%u pictures, %u packets, sum %lu", sink->pictures, sink->packets, sink->sum);
    inlet->log(INLET_LOG_INFO, text);
    return INLET_OK;
}

static void destroy(inlet_sink *sink) { free(sink); }

static const inlet_sink_interface interface = {
    .size = sizeof interface, .create = create, .start = start, .consume = consume, .finish = finish,
    .destroy = destroy};
static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)error;
    inlet = host;
    return INLET_OK;
}
static void deinit(void) {}
static const void *get_interface(const char *id) { return strcmp(id, INLET_SINK_ID) ? NULL : &interface; }

const inlet_plugin inlet_plugin_entry = {
    sizeof(inlet_plugin), INLET_PLUGIN_MAGIC, INLET_PLUGIN_MAJOR, 0, 0, init, deinit, get_interface};
