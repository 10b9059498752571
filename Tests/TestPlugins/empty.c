/*
 * A source that draws only a mark in its pictures: its cost is the cost of passing on a picture. Options:
 * size=WIDTHxHEIGHT, 1920x1080 unless given; rate=N, pictures a second. Without a rate they come as fast as the host
 * asks.
 */
#include "one-source.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

struct inlet_source {
    const inlet_source_host *host;
    uint64_t count;
    uint32_t width, height, rate;
    int64_t start;
};

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    (void)error;
    *source = calloc(1, sizeof **source);
    **source = (struct inlet_source){.host = host, .width = 1920, .height = 1080};
    for (uint32_t i = 0; i < configuration->option_count; i++) {
        const inlet_option *option = &configuration->options[i];
        if (!strcmp(option->name, "size")) sscanf(option->value, "%ux%u", &(*source)->width, &(*source)->height);
        if (!strcmp(option->name, "rate")) (*source)->rate = (uint32_t)strtoul(option->value, NULL, 10);
    }
    return INLET_OK;
}

static inlet_result open_(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
    stream->pacing = source->rate ? INLET_PACING_LIVE : INLET_PACING_NONE;
    stream->width = source->width;
    stream->height = source->height;
    strcpy(stream->pixel_format, "yuv420p");
    stream->time_base = (inlet_rational){1, source->rate ? (int32_t)source->rate : 30};
    source->start = inlet->now();
    return INLET_OK;
}

/* Waits until the next picture is due. */
static inlet_result wait_for_picture(const inlet_source *source, int64_t deadline) {
    struct pollfd wake = {.fd = source->host->wake_fd, .events = POLLIN};
    int64_t due = source->start + (int64_t)(source->count * 1000000000 / source->rate);
    for (;;) {
        int64_t now = inlet->now();
        if (now >= due) return INLET_OK;
        if (now >= deadline) return INLET_AGAIN;
        int64_t left = (due < deadline ? due : deadline) - now;
        if (poll(&wake, 1, (int)(left / 1000000) + 1) > 0) return INLET_ERROR_CANCELLED;
    }
}

static inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    inlet_result result = source->rate ? wait_for_picture(source, deadline) : INLET_OK;
    if (result != INLET_OK) return result;
    inlet_slot slot = {.size = sizeof slot};
    result = source->host->get_slot(
        source->host->context, "yuv420p", source->width, source->height, &slot, error);
    if (result != INLET_OK) return result;
    slot.planes[0].data[slot.planes[0].offset] = (uint8_t)source->count;
    item->sequence = source->count;
    item->pts = (int64_t)source->count++;
    item->picture.width = source->width;
    item->picture.height = source->height;
    strcpy(item->picture.pixel_format, "yuv420p");
    item->picture.is_in_slot = 1;
    item->picture.slot = slot.id;
    return INLET_OK;
}
