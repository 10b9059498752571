/*
 * bars: a source for Inlet in C. It draws eight vertical bars and a moving white line directly into Inlet's memory.
 *
 *   make && INLET_PLUGIN_PATH=. inlet run 'bars:?size=640x480&rate=25' --to framemd5:-
 */
#include <inlet_plugin.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inlet_source {
    const inlet_source_host *host;
    uint32_t width, height, rate;
    int64_t start; /* due time of the first picture */
    uint64_t count;
};

static const inlet_host *inlet;

static inlet_result fail(inlet_error *error, inlet_result result, const char *message) {
    snprintf(error->message, sizeof error->message, "%s", message);
    return result;
}

static inlet_result bars_create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    inlet_source *new = calloc(1, sizeof *new);
    if (!new) {
        return fail(
            error, INLET_ERROR_RESOURCE_EXHAUSTED, "Cannot allocate memory for the source. Stop other programs.");
    }
    *new = (inlet_source){.host = host, .width = 640, .height = 480, .rate = 25};
    for (uint32_t i = 0; i < configuration->option_count; i++) {
        const inlet_option *option = &configuration->options[i];
        if (!strcmp(option->name, "size")) sscanf(option->value, "%ux%u", &new->width, &new->height);
        if (!strcmp(option->name, "rate")) new->rate = (uint32_t)strtoul(option->value, NULL, 10);
    }
    if (new->rate < 1 || new->rate > 1000) {
        free(new);
        return fail(error, INLET_ERROR_INVALID_CONFIGURATION, "The rate is out of range. Use 1 to 1000.");
    }
    *source = new;
    return INLET_OK;
}

static inlet_result bars_open(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error; /* Opening neither waits nor fails. */
    stream->pacing = INLET_PACING_REALTIME;
    stream->width = source->width;
    stream->height = source->height;
    strcpy(stream->pixel_format, "yuv420p");
    stream->time_base = (inlet_rational){1, (int32_t)source->rate};
    stream->frame_rate = (inlet_rational){(int32_t)source->rate, 1};
    stream->sample_aspect_ratio = (inlet_rational){1, 1};
    stream->color = (inlet_color){6, 6, 6, 1}; /* BT.601, limited range */
    source->start = inlet->now();
    return INLET_OK;
}

/* Waits until a time. Returns INLET_OK then, INLET_AGAIN at the deadline, or INLET_ERROR_CANCELLED. */
static inlet_result wait_until(const inlet_source *source, int64_t time, int64_t deadline) {
    struct pollfd wake = {.fd = source->host->wake_fd, .events = POLLIN};
    for (;;) {
        int64_t now = inlet->now();
        if (now >= time) return source->host->is_cancelled(source->host->context) ? INLET_ERROR_CANCELLED : INLET_OK;
        if (now >= deadline) return INLET_AGAIN;
        int64_t left = (time < deadline ? time : deadline) - now;
        if (poll(&wake, 1, left > 1000000000 ? 1000 : (int)(left / 1000000) + 1) > 0) return INLET_ERROR_CANCELLED;
    }
}

static inlet_result bars_next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    static const uint8_t colors[8][3] = {{180, 128, 128}, {162, 44, 142}, {131, 156, 44}, {112, 72, 58},
                                         {84, 184, 198},  {65, 100, 212}, {35, 212, 114}, {16, 128, 128}};
    int64_t due = source->start + (int64_t)(source->count * 1000000000 / source->rate);
    inlet_result result = wait_until(source, due, deadline);
    if (result == INLET_ERROR_CANCELLED) return fail(error, result, "The source was stopped.");
    if (result != INLET_OK) return result;

    inlet_slot slot = {.size = sizeof slot};
    result = source->host->get_slot(source->host->context, "yuv420p", source->width, source->height, &slot, error);
    if (result != INLET_OK) return result;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t width = i ? (source->width + 1) / 2 : source->width;
        uint32_t height = i ? (source->height + 1) / 2 : source->height;
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *row = slot.planes[i].data + slot.planes[i].offset + (int64_t)y * slot.planes[i].stride;
            for (uint32_t bar = 0; bar < 8; bar++) {
                uint32_t left = width * bar / 8, right = width * (bar + 1) / 8;
                memset(row + left, colors[bar][i], right - left);
            }
            if (i == 0 && y == source->count % height) memset(row, 235, width);
        }
    }

    item->sequence = source->count;
    item->pts = (int64_t)source->count++;
    item->duration = 1;
    item->flags = INLET_FLAG_KEY;
    item->picture.width = source->width;
    item->picture.height = source->height;
    strcpy(item->picture.pixel_format, "yuv420p");
    item->picture.sample_aspect_ratio = (inlet_rational){1, 1};
    item->picture.color = (inlet_color){6, 6, 6, 1};
    item->picture.is_in_slot = 1;
    item->picture.slot = slot.id;
    return INLET_OK;
}

static void bars_close(inlet_source *source) { (void)source; }

static void bars_destroy(inlet_source *source) { free(source); }

static const inlet_source_interface bars = {
    .size = sizeof bars, .create = bars_create, .open = bars_open, .next = bars_next, .close = bars_close,
    .destroy = bars_destroy,
};

static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)error;
    inlet = host;
    return INLET_OK;
}

static void deinit(void) {}

static const void *get_interface(const char *id) { return strcmp(id, INLET_SOURCE_ID) ? NULL : &bars; }

const inlet_plugin inlet_plugin_entry = {
    .size = sizeof(inlet_plugin), .magic = INLET_PLUGIN_MAGIC, .major = INLET_PLUGIN_MAJOR, .minor_needed = 0,
    .init = init, .deinit = deinit, .get_interface = get_interface,
};
