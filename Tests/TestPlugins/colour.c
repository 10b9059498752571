/*
 * A source of grey pictures of 64x48, one every 20 ms, whose luma is COLOUR. With CRASHES it ends its process when it
 * is opened, with KEYS it yields packets of one byte, of which every KEYS-th is a key frame. With CLOCK the PTS are
 * those of CLOCK_MONOTONIC.
 */
#include "one-source.h"

#include <poll.h>
#include <string.h>

#ifndef COLOUR
#define COLOUR 10
#endif

struct inlet_source {
    const inlet_source_host *host;
    uint64_t count;
    int64_t due;
    uint8_t byte;
};

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    (void)configuration, (void)error;
    *source = calloc(1, sizeof **source);
    (*source)->host = host;
    return INLET_OK;
}

static inlet_result open_(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
#ifdef CRASHES
    abort();
#endif
    stream->width = 64;
    stream->height = 48;
#ifdef KEYS
    strcpy(stream->codec, "h264");
#else
    strcpy(stream->pixel_format, "gray");
#endif
    stream->time_base = (inlet_rational){1, 50};
#ifdef CLOCK
    stream->time_base = (inlet_rational){1, 1000000};
#endif
    source->due = inlet->now();
    return INLET_OK;
}

static inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    while (inlet->now() < source->due) {
        struct pollfd wake = {.fd = source->host->wake_fd, .events = POLLIN};
        if (poll(&wake, 1, (int)((source->due - inlet->now()) / 1000000 + 1)) > 0) return INLET_ERROR_CANCELLED;
        if (inlet->now() >= deadline) return INLET_AGAIN;
    }
    source->due += 20000000;
    item->sequence = source->count;
    item->pts = (int64_t)source->count++;
#ifdef CLOCK
    item->pts = inlet->now() / 1000;
#endif
#ifdef KEYS
    (void)error;
    source->byte = COLOUR;
    item->is_packet = 1;
    item->flags = source->count % KEYS == 0 ? INLET_FLAG_KEY : 0;
    item->packet.data = &source->byte;
    item->packet.length = 1;
    item->packet.dts = item->pts;
#else
    inlet_slot slot;
    inlet_result result = source->host->get_slot(source->host->context, "gray", 64, 48, &slot, error);
    if (result != INLET_OK) return result;
    for (int row = 0; row < 48; row++) memset(slot.planes[0].data + row * slot.planes[0].stride, COLOUR, 64);
    item->picture.width = 64;
    item->picture.height = 48;
    strcpy(item->picture.pixel_format, "gray");
    item->picture.is_in_slot = 1;
    item->picture.slot = slot.id;
#endif
    return INLET_OK;
}
