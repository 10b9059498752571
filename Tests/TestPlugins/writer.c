/*
 * A sink that writes the samples of its pictures, or its packets, one after another to the file of the option "to".
 * With the option "packets" it takes packets; "end" is the number of items that it takes.
 */
#include <inlet_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inlet_sink {
    const inlet_sink_host *host;
    FILE *file;
    long end, count;
};

static inlet_result create(
    const inlet_configuration *configuration, const inlet_sink_host *host, inlet_sink **sink, inlet_sink_wants *wants,
    inlet_error *error) {
    inlet_sink *new = calloc(1, sizeof *new);
    new->host = host;
    new->end = -1;
    for (uint32_t i = 0; i < configuration->option_count; i++) {
        const inlet_option *option = &configuration->options[i];
        if (!strcmp(option->name, "to")) new->file = fopen(option->value, "w");
        if (!strcmp(option->name, "packets")) wants->packets = 1;
        if (!strcmp(option->name, "end")) new->end = atol(option->value);
    }
    if (!new->file) {
        free(new);
        strcpy(error->message, "The file cannot be written. Name another.");
        return INLET_ERROR_PERMISSION_DENIED;
    }
    *sink = new;
    return INLET_OK;
}

static inlet_result start(inlet_sink *sink, int64_t deadline, const inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
    fwrite(stream->parameter_sets, 1, stream->parameter_sets_length, sink->file);
    return INLET_OK;
}

static inlet_result consume(inlet_sink *sink, int64_t deadline, const inlet_item *item, inlet_error *error) {
    (void)deadline, (void)error;
    if (sink->count++ == sink->end) return INLET_END;
    if (item->is_packet) {
        fwrite(item->packet.data, 1, item->packet.length, sink->file);
        sink->host->request_key_frame(sink->host->context);
        return INLET_OK;
    }
    for (uint32_t i = 0; i < item->picture.plane_count; i++) {
        const inlet_plane *plane = &item->picture.planes[i];
        uint32_t width = i ? (item->picture.width + 1) / 2 : item->picture.width;
        uint32_t height = i ? (item->picture.height + 1) / 2 : item->picture.height;
        for (uint32_t y = 0; y < height; y++)
            fwrite(plane->data + plane->offset + (int64_t)y * plane->stride, 1, width, sink->file);
    }
    return INLET_OK;
}

static inlet_result finish(inlet_sink *sink, int64_t deadline, inlet_error *error) {
    (void)deadline, (void)error;
    fputs("end", sink->file);
    fflush(sink->file);
    return INLET_OK;
}

static void destroy(inlet_sink *sink) {
    fclose(sink->file);
    free(sink);
}

static const inlet_sink_interface interface = {
    .size = sizeof interface, .create = create, .start = start, .consume = consume, .finish = finish,
    .destroy = destroy};
static inlet_result init(const inlet_host *host, inlet_error *error) {
    (void)host, (void)error;
    return INLET_OK;
}
static void deinit(void) {}
static const void *get_interface(const char *id) { return strcmp(id, INLET_SINK_ID) ? NULL : &interface; }

const inlet_plugin inlet_plugin_entry = {
    sizeof(inlet_plugin), INLET_PLUGIN_MAGIC, INLET_PLUGIN_MAJOR, 0, 0, init, deinit, get_interface};
