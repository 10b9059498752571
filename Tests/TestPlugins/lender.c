/*
 * A source that lends its own memory: each picture of 64x48 in nv12, or each packet if the option "packets" is 1,
 * holds its number in every byte. Each item's wall clock is the number released so far.
 */
#include <inlet_plugin.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 48, LENGTH = WIDTH * HEIGHT * 3 / 2 };

struct inlet_source {
    const inlet_source_host *host;
    int packets;
    uint64_t count;
};

static atomic_long released_count;

static void released(void *memory) {
    /* A late reader sees that. */
    memset(memory, 255, LENGTH);
    free(memory);
    atomic_fetch_add(&released_count, 1);
}

static inlet_result create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    (void)error;
    *source = calloc(1, sizeof **source);
    (*source)->host = host;
    for (uint32_t i = 0; i < configuration->option_count; i++)
        if (!strcmp(configuration->options[i].name, "packets"))
            (*source)->packets = atoi(configuration->options[i].value);
    return INLET_OK;
}

static inlet_result open_(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
    stream->width = WIDTH;
    stream->height = HEIGHT;
    stream->time_base = (inlet_rational){1, 25};
    strcpy(source->packets ? stream->codec : stream->pixel_format, source->packets ? "h264" : "nv12");
    return INLET_OK;
}

static inlet_result next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    (void)deadline, (void)error;
    if (source->host->is_cancelled(source->host->context)) return INLET_ERROR_CANCELLED;
    uint8_t *memory = malloc(LENGTH);
    memset(memory, (int)(source->count % 200), LENGTH);
    item->sequence = source->count;
    item->pts = (int64_t)source->count++;
    item->wall_clock = atomic_load(&released_count);
    item->release = released;
    item->release_data = memory;
    item->is_packet = (uint32_t)source->packets;
    item->packet.data = memory;
    item->packet.length = 100;
    item->picture.width = WIDTH;
    item->picture.height = HEIGHT;
    strcpy(item->picture.pixel_format, "nv12");
    item->picture.plane_count = 2;
    item->picture.planes[0] = (inlet_plane){memory, WIDTH * HEIGHT, 0, WIDTH};
    item->picture.planes[1] = (inlet_plane){memory + WIDTH * HEIGHT, WIDTH * HEIGHT / 2, 0, WIDTH};
    return INLET_OK;
}

static void close_(inlet_source *source) { (void)source; }
static void destroy(inlet_source *source) { free(source); }

static const inlet_source_interface interface = {
    .size = sizeof interface, .create = create, .open = open_, .next = next, .close = close_, .destroy = destroy};
static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)host, (void)error;
    return INLET_OK;
}
static void deinit(void) {}
static const void *get_interface(const char *id) { return strcmp(id, INLET_SOURCE_ID) ? NULL : &interface; }

const inlet_plugin inlet_plugin_entry = {
    sizeof(inlet_plugin), INLET_PLUGIN_MAGIC, INLET_PLUGIN_MAJOR, 0, 0, init, deinit, get_interface};
