/*
 * A source with the items of its option "item": pictures that it lends, packets, or inconsistent items.
 * Each picture of 6x4 in nv12 holds its number in every byte; each packet its number in every byte, too. Reports how
 * many were released through count_drop, by the reason "released". A packet is a key frame if one was requested.
 */
#include "one-source.h"

#include <string.h>

struct inlet_source {
    const inlet_source_host *host;
    char item[32];
    uint64_t count;
    uint32_t key_frames; /* requests that were handled */
    uint8_t memory[4096];
};

static void released(void *data) {
    inlet_source *source = data;
    source->host->count_drop(source->host->context, "released", 1);
}

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    (void)error;
    inlet_source *new = calloc(1, sizeof *new);
    new->host = host;
    for (uint32_t i = 0; i < configuration->option_count; i++)
        if (!strcmp(configuration->options[i].name, "item"))
            strncpy(new->item, configuration->options[i].value, sizeof new->item - 1);
    *source = new;
    return INLET_OK;
}

static inlet_result open_(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
    static const uint8_t sets[] = {1, 2, 3};
    stream->width = 6;
    stream->height = 4;
    stream->time_base = (inlet_rational){1, 25};
    if (!strcmp(source->item, "packet")) {
        strcpy(stream->codec, "h264");
        stream->parameter_sets = sets;
        stream->parameter_sets_length = sizeof sets;
    } else {
        strcpy(stream->pixel_format, "nv12");
    }
    return INLET_OK;
}

static inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    (void)deadline;
    const char *kind = source->item;
    memset(source->memory, (int)source->count, sizeof source->memory);
    item->sequence = source->count;
    item->pts = (int64_t)source->count++;
    item->release = released;
    item->release_data = source;
    if (!strcmp(kind, "packet")) {
        item->is_packet = 1;
        item->packet.data = source->memory;
        item->packet.length = 100 + source->count;
        item->packet.dts = item->pts - 1;
        inlet_demand demand = {.size = sizeof demand};
        source->host->get_demand(source->host->context, &demand);
        if (demand.key_frame_requests != source->key_frames) item->flags |= INLET_FLAG_KEY;
        source->key_frames = demand.key_frame_requests;
        if (source->count == 2) {
            item->packet.parameter_sets = source->memory;
            item->packet.parameter_sets_length = 7;
        }
        return INLET_OK;
    }
    if (!strcmp(kind, "empty-packet")) return item->is_packet = 1, INLET_OK;
    if (!strcmp(kind, "is-packet")) return item->is_packet = 2, INLET_OK;
    if (!strcmp(kind, "result")) return 7;
    if (!strcmp(kind, "result-negative")) return -99;
    if (!strcmp(kind, "silent-error")) return INLET_ERROR_BUSY;
    if (!strcmp(kind, "long-error")) {
        memset(error->message, 'x', sizeof error->message);
        error->native_code = 5;
        error->retry_after = 1000;
        return INLET_ERROR_SERVER_UNAVAILABLE;
    }
    inlet_picture *picture = &item->picture;
    picture->width = 6;
    picture->height = 4;
    strcpy(picture->pixel_format, "nv12");
    picture->plane_count = 2;
    picture->planes[0] = (inlet_plane){source->memory, 32, 0, 8};
    /* Bottom up: the top row is the last in memory. */
    picture->planes[1] = (inlet_plane){source->memory + 64, 16, 8, -8};
    if (!strcmp(kind, "format")) strcpy(picture->pixel_format, "nonsense");
    if (!strcmp(kind, "no-zero")) memset(picture->pixel_format, 'x', sizeof picture->pixel_format);
    if (!strcmp(kind, "size")) picture->width = 1u << 31;
    if (!strcmp(kind, "zero")) picture->height = 0;
    if (!strcmp(kind, "plane-count")) picture->plane_count = 3;
    if (!strcmp(kind, "plane-null")) picture->planes[0].data = NULL;
    if (!strcmp(kind, "plane-length")) picture->planes[0].length = 29;
    if (!strcmp(kind, "plane-offset")) picture->planes[1].offset = UINT64_MAX;
    if (!strcmp(kind, "plane-stride")) picture->planes[0].stride = INT64_MIN;
    if (!strcmp(kind, "plane-overlap")) picture->planes[0].stride = 5;
    if (!strcmp(kind, "slot-stolen")) picture->is_in_slot = 1, picture->slot = 3;
    if (!strcmp(kind, "slot-other-size") || !strcmp(kind, "slot-twice") || !strcmp(kind, "slot-format") ||
        !strcmp(kind, "slot-size")) {
        inlet_slot slot = {.size = sizeof slot};
        const char *format = !strcmp(kind, "slot-format") ? "h264" : "nv12";
        uint32_t width = !strcmp(kind, "slot-size") ? 0 : 8;
        inlet_result result = source->host->get_slot(source->host->context, format, width, 8, &slot, error);
        if (result) return result;
        picture->is_in_slot = 1;
        picture->slot = slot.id;
        if (!strcmp(kind, "slot-twice"))
            return source->host->get_slot(source->host->context, "nv12", 8, 8, &slot, error);
    }
    return INLET_OK;
}
