/*
 * gallery.h: a good source. Each plug-in of this folder makes one part of it bad.
 *
 * A plug-in defines one of the macros below, and includes this header last. IN_... is code that runs at
 * the beginning of a function; in `next` it runs once three pictures were good. ALTER_... is code that runs at its end.
 */
#include "tools.h"

#ifndef IN_CONSTRUCTOR
#define IN_CONSTRUCTOR
#endif
#ifndef IN_INIT
#define IN_INIT
#endif
#ifndef IN_GET_INTERFACE
#define IN_GET_INTERFACE
#endif
#ifndef IN_CREATE
#define IN_CREATE
#endif
#ifndef IN_OPEN
#define IN_OPEN
#endif
#ifndef ALTER_STREAM
#define ALTER_STREAM
#endif
#ifndef IN_NEXT
#define IN_NEXT
#endif
#ifndef ALTER_ITEM
#define ALTER_ITEM
#endif
#ifndef IN_PAUSE
#define IN_PAUSE
#endif
#ifndef IN_CLOSE
#define IN_CLOSE
#endif
#ifndef IN_DESTROY
#define IN_DESTROY
#endif
#ifndef ENTRY_SIZE
#define ENTRY_SIZE sizeof(inlet_plugin)
#endif
#ifndef ENTRY_MAGIC
#define ENTRY_MAGIC INLET_PLUGIN_MAGIC
#endif
#ifndef ENTRY_MAJOR
#define ENTRY_MAJOR INLET_PLUGIN_MAJOR
#endif
#ifndef ENTRY_MINOR
#define ENTRY_MINOR 0
#endif
#ifndef ENTRY_GET_INTERFACE
#define ENTRY_GET_INTERFACE gallery_get_interface
#endif
#ifndef INTERFACE_SIZE
#define INTERFACE_SIZE sizeof(inlet_source_interface)
#endif
#ifndef INTERFACE_NEXT
#define INTERFACE_NEXT gallery_next
#endif

enum { WIDTH = 64, HEIGHT = 48, RATE = 100, GOOD_PICTURES = 3 };

__attribute__((constructor)) static void gallery_load(void) { IN_CONSTRUCTOR }

static inlet_result gallery_create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **source,
    inlet_error *error) {
    (void)configuration;
    IN_CREATE
    *source = calloc(1, sizeof **source);
    if (!*source) return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "There is no memory for a source.");
    (*source)->host = host;
    return INLET_OK;
}

static inlet_result gallery_open(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
    IN_OPEN
    source->start = inlet->now();
    stream->pacing = INLET_PACING_REALTIME;
    stream->width = WIDTH;
    stream->height = HEIGHT;
    strcpy(stream->pixel_format, "yuv420p");
    stream->time_base = (inlet_rational){1, RATE};
    stream->frame_rate = (inlet_rational){RATE, 1};
    ALTER_STREAM
    return INLET_OK;
}

/* Waits until the next picture is due. */
static inlet_result gallery_wait(const inlet_source *source, int64_t deadline) {
    int64_t due = source->start + (int64_t)source->count * (1000000000 / RATE);
    struct pollfd wake = {.fd = source->host->wake_fd, .events = POLLIN};
    for (;;) {
        int64_t now = inlet->now(), until = due < deadline ? due : deadline;
        int left = until > now ? (int)((until - now) / 1000000) + 1 : 0;
        if (poll(&wake, 1, left) > 0) return INLET_ERROR_CANCELLED;
        if (inlet->now() >= due) return INLET_OK;
        if (inlet->now() >= deadline) return INLET_AGAIN;
    }
}

static inlet_result gallery_next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    const inlet_source_host *host = source->host;
    int is_bad = source->count >= GOOD_PICTURES;
    if (is_bad) {
        IN_NEXT
    }
    inlet_result result = gallery_wait(source, deadline);
    if (result == INLET_ERROR_CANCELLED) return fail(error, result, "The source was cancelled.");
    if (result != INLET_OK) return result;
    inlet_slot slot = {.size = sizeof slot};
    result = host->get_slot(host->context, "yuv420p", WIDTH, HEIGHT, &slot, error);
    if (result != INLET_OK) return result;
    for (int i = 0; i < 3; i++) {
        int width = i ? WIDTH / 2 : WIDTH, height = i ? HEIGHT / 2 : HEIGHT;
        for (int row = 0; row < height; row++) {
            uint8_t *bytes = slot.planes[i].data + slot.planes[i].offset + row * slot.planes[i].stride;
            memset(bytes, i ? 128 : (int)(source->count % 256), (size_t)width);
        }
    }
    item->sequence = source->count;
    item->pts = (int64_t)source->count;
    item->duration = 1;
    item->picture.width = WIDTH;
    item->picture.height = HEIGHT;
    strcpy(item->picture.pixel_format, "yuv420p");
    item->picture.is_in_slot = 1;
    item->picture.slot = slot.id;
    if (is_bad) {
        ALTER_ITEM
    }
    source->count++;
    return INLET_OK;
}

static inlet_result gallery_pause(inlet_source *source, inlet_error *error) {
    (void)source, (void)error;
    IN_PAUSE
    return INLET_OK;
}

static inlet_result gallery_resume(inlet_source *source, inlet_error *error) {
    (void)error;
    source->start = inlet->now() - (int64_t)source->count * (1000000000 / RATE);
    return INLET_OK;
}

static void gallery_close(inlet_source *source) {
    (void)source;
    IN_CLOSE
}

static void gallery_destroy(inlet_source *source) {
    IN_DESTROY
    free(source);
}

static const inlet_source_interface gallery_source = {
    .size = INTERFACE_SIZE, .create = gallery_create, .open = gallery_open, .next = INTERFACE_NEXT,
    .pause = gallery_pause, .resume = gallery_resume, .close = gallery_close, .destroy = gallery_destroy};

static inlet_result gallery_init(const inlet_host *host, inlet_error *error) {
    (void)error;
    inlet = host;
    IN_INIT
    return INLET_OK;
}

static void gallery_deinit(void) {}

/* Unused by plug-ins that have no such function, or another one. */
__attribute__((unused)) static const void *gallery_get_interface(const char *id) {
    IN_GET_INTERFACE
    return strcmp(id, INLET_SOURCE_ID) ? NULL : &gallery_source;
}

const inlet_plugin inlet_plugin_entry = {
    .size = ENTRY_SIZE, .magic = ENTRY_MAGIC, .major = ENTRY_MAJOR, .minor_needed = ENTRY_MINOR,
    .init = gallery_init, .deinit = gallery_deinit, .get_interface = ENTRY_GET_INTERFACE};
