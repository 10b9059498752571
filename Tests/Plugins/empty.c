/*
 * A source that yields pictures of 1920x1080 as fast as it is asked, and draws nothing in them but a mark: what it
 * costs is what a picture costs on its way.
 */
#include "one-source.h"

#include <string.h>

struct inlet_source {
    const inlet_source_host *host;
    uint64_t count;
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
    (void)source, (void)deadline, (void)error;
    stream->pacing = INLET_PACING_NONE;
    stream->width = 1920;
    stream->height = 1080;
    strcpy(stream->pixel_format, "yuv420p");
    stream->time_base = (inlet_rational){1, 30};
    return INLET_OK;
}

static inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    (void)deadline;
    inlet_slot slot;
    inlet_result result = source->host->get_slot(source->host->context, "yuv420p", 1920, 1080, &slot, error);
    if (result != INLET_OK) return result;
    slot.planes[0].data[slot.planes[0].offset] = (uint8_t)source->count;
    item->sequence = source->count;
    item->pts = (int64_t)source->count++;
    item->picture.width = 1920;
    item->picture.height = 1080;
    strcpy(item->picture.pixel_format, "yuv420p");
    item->picture.is_in_slot = 1;
    item->picture.slot = slot.id;
    return INLET_OK;
}
