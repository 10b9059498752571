/*
 * good-sink.h: a good sink. Plug-ins of this folder make one part of it bad, as they do with good.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <inlet_plugin.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef IN_START
#define IN_START
#endif
#ifndef IN_CONSUME
#define IN_CONSUME
#endif
#ifndef IN_FINISH
#define IN_FINISH
#endif
#ifndef ROW_BYTES
#define ROW_BYTES(plane) ((plane) ? (item->picture.width + 1) / 2 : item->picture.width)
#endif
#ifndef ROWS
#define ROWS(plane) ((plane) ? (item->picture.height + 1) / 2 : item->picture.height)
#endif

struct inlet_sink {
    const inlet_sink_host *host;
    const uint8_t *kept;
    uint64_t sum;
};

static inline void wait_for(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

static inlet_result create(
    const inlet_configuration *configuration, const inlet_sink_host *host, inlet_sink **sink, inlet_sink_wants *wants,
    inlet_error *error) {
    (void)configuration, (void)wants;
    *sink = calloc(1, sizeof **sink);
    if (!*sink) {
        strcpy(error->message, "There is no memory for a sink.");
        return INLET_ERROR_RESOURCE_EXHAUSTED;
    }
    (*sink)->host = host;
    return INLET_OK;
}

static inlet_result start(inlet_sink *sink, int64_t deadline, const inlet_stream *stream, inlet_error *error) {
    (void)sink, (void)deadline, (void)stream, (void)error;
    IN_START
    return INLET_OK;
}

static inlet_result consume(inlet_sink *sink, int64_t deadline, const inlet_item *item, inlet_error *error) {
    (void)deadline, (void)error;
    IN_CONSUME
    for (uint32_t i = 0; i < item->picture.plane_count; i++) {
        const inlet_plane *plane = &item->picture.planes[i];
        for (uint32_t y = 0; y < ROWS(i); y++)
            for (uint32_t x = 0; x < ROW_BYTES(i); x++)
                sink->sum += ((volatile uint8_t *)plane->data)[(int64_t)plane->offset + y * plane->stride + x];
    }
    return INLET_OK;
}

static inlet_result finish(inlet_sink *sink, int64_t deadline, inlet_error *error) {
    (void)sink, (void)deadline, (void)error;
    IN_FINISH
    return INLET_OK;
}

static void destroy(inlet_sink *sink) { free(sink); }

static const inlet_sink_interface good_sink = {
    .size = sizeof good_sink, .create = create, .start = start, .consume = consume, .finish = finish,
    .destroy = destroy};

static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)host, (void)error;
    return INLET_OK;
}

static void deinit(void) {}

static const void *get_interface(const char *id) { return strcmp(id, INLET_SINK_ID) ? NULL : &good_sink; }

const inlet_plugin inlet_plugin_entry = {
    .size = sizeof(inlet_plugin), .magic = INLET_PLUGIN_MAGIC, .major = INLET_PLUGIN_MAJOR, .init = init,
    .deinit = deinit, .get_interface = get_interface};
