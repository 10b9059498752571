/*
 * good.h: a good source, which each plug-in of this folder makes bad in one place, by macros that it defines before it
 * includes this header.
 *
 * The first comment of each names the check of `inlet plugins verify` that must fail, other checks that may fail by the
 * same defect in parentheses, and a part of the sentence.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <inlet_plugin.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#ifndef IN_INIT
#define IN_INIT
#endif
#ifndef IN_DEINIT
#define IN_DEINIT
#endif
#ifndef IN_CREATE
#define IN_CREATE
#endif
#ifndef IN_OPEN
#define IN_OPEN
#endif
#ifndef IN_NEXT
#define IN_NEXT
#endif
#ifndef IN_CANCELLATION
#define IN_CANCELLATION
#endif
#ifndef ALTER_ITEM
#define ALTER_ITEM
#endif
#ifndef IN_PAUSE
#define IN_PAUSE
#endif
#ifndef IN_RESUME
#define IN_RESUME
#endif
#ifndef IN_CLOSE
#define IN_CLOSE
#endif
#ifndef IN_DESTROY
#define IN_DESTROY
#endif
/* Allocation and release of lent memory, if LENDS is defined. */
#ifndef ALLOCATE
#define ALLOCATE(length) malloc(length)
#endif
#ifndef RELEASE
#define RELEASE free
#endif
/* The number of rows of a plane. */
#ifndef ROWS
#define ROWS(plane) ((plane) ? (source->height + 1) / 2 : source->height)
#endif
#ifndef RESUME
#define RESUME good_resume
#endif
#ifndef SLOT
#define SLOT {.size = sizeof slot}
#endif
#ifndef INTERFACE
#define INTERFACE(id) (strcmp(id, INLET_SOURCE_ID) ? NULL : &good_source)
#endif
/* Whether a wait ends at the deadline, and by a cancellation. */
#ifndef HEEDS_DEADLINE
#define HEEDS_DEADLINE 1
#endif
#ifndef HEEDS_WAKE
#define HEEDS_WAKE 1
#endif
#ifndef EARLY_AGAIN
#define EARLY_AGAIN 0
#endif

struct inlet_source {
    const inlet_source_host *host;
    uint32_t width, height, rate;
    int64_t start;
    uint64_t count;
    int is_open;
    uint8_t *lent, *pool;
    pthread_t thread;
};

static const inlet_host *inlet;

static inline inlet_result fail(inlet_error *error, inlet_result result, const char *message) {
    snprintf(error->message, sizeof error->message, "%s", message);
    return result;
}

static inline void wait_for(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

#ifdef HELPERS
HELPERS
#endif

static inlet_result good_create(
    const inlet_configuration *configuration, const inlet_source_host *host, inlet_source **place,
    inlet_error *error) {
    inlet_source *source = calloc(1, sizeof *source);
    if (!source) return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "There is no memory for a source.");
    *source = (inlet_source){.host = host, .width = 64, .height = 48, .rate = 100};
    for (uint32_t i = 0; i < configuration->option_count; i++) {
        const inlet_option *option = &configuration->options[i];
        if (!strcmp(option->name, "size")) sscanf(option->value, "%ux%u", &source->width, &source->height);
        if (!strcmp(option->name, "rate")) source->rate = (uint32_t)atoi(option->value);
    }
    IN_CREATE
    *place = source;
    return INLET_OK;
}

static inlet_result good_open(inlet_source *source, int64_t deadline, inlet_stream *stream, inlet_error *error) {
    (void)deadline, (void)error;
    source->is_open = 1;
    source->start = inlet->now();
    stream->pacing = INLET_PACING_REALTIME;
    stream->width = source->width;
    stream->height = source->height;
    strcpy(stream->pixel_format, "yuv420p");
    stream->time_base = (inlet_rational){1, (int32_t)source->rate};
    stream->frame_rate = (inlet_rational){(int32_t)source->rate, 1};
    IN_OPEN
    return INLET_OK;
}

static inlet_result good_wait(const inlet_source *source, int64_t deadline) {
    int64_t due = source->start + (int64_t)(source->count * 1000000000 / source->rate);
    struct pollfd wake = {.fd = HEEDS_WAKE ? source->host->wake_fd : -1, .events = POLLIN};
    for (;;) {
        int64_t now = inlet->now(), until = HEEDS_DEADLINE && deadline < due ? deadline : due;
        int64_t left = until > now ? (until - now) / 1000000 + 1 : 0;
        if (poll(&wake, 1, left > 1000 ? 1000 : (int)left) > 0) return INLET_ERROR_CANCELLED;
        if (inlet->now() >= due) return INLET_OK;
        if (HEEDS_DEADLINE && inlet->now() >= deadline) return INLET_AGAIN;
    }
}

static inlet_result good_next(inlet_source *source, int64_t deadline, inlet_item *item, inlet_error *error) {
    if (EARLY_AGAIN && source->count > 2) return INLET_AGAIN;
    inlet_result result = good_wait(source, deadline);
    if (result == INLET_ERROR_CANCELLED) {
        IN_CANCELLATION
        return fail(error, result, "The source was cancelled.");
    }
    if (result != INLET_OK) return result;
    IN_NEXT
    item->sequence = source->count;
    item->pts = (int64_t)source->count;
    item->duration = 1;
    item->flags = INLET_FLAG_KEY;
    item->picture.width = source->width;
    item->picture.height = source->height;
#ifdef LENDS
    size_t length = (size_t)source->width * source->height;
    source->lent = ALLOCATE(length);
    if (!source->lent) return fail(error, INLET_ERROR_RESOURCE_EXHAUSTED, "There is no memory for a picture.");
    memset(source->lent, (int)(source->count % 200) + 1, length);
    strcpy(item->picture.pixel_format, "gray");
    item->picture.plane_count = 1;
    item->picture.planes[0] = (inlet_plane){source->lent, length, 0, source->width};
    item->release = RELEASE;
    item->release_data = source->lent;
#else
    inlet_slot slot = SLOT;
    result = source->host->get_slot(
        source->host->context, "yuv420p", source->width, source->height, &slot, error);
    if (result != INLET_OK) return result;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t y = 0; y < ROWS(i); y++)
            memset(
                slot.planes[i].data + slot.planes[i].offset + (int64_t)y * slot.planes[i].stride,
                i ? 128 : (int)(source->count % 200), i ? (source->width + 1) / 2 : source->width);
    strcpy(item->picture.pixel_format, "yuv420p");
    item->picture.is_in_slot = 1;
    item->picture.slot = slot.id;
#endif
    ALTER_ITEM
    source->count++;
    return INLET_OK;
}

static inlet_result good_pause(inlet_source *source, inlet_error *error) {
    (void)source, (void)error;
    IN_PAUSE
    return INLET_OK;
}

static inline inlet_result good_resume(inlet_source *source, inlet_error *error) {
    (void)error;
    source->start = inlet->now() - (int64_t)(source->count * 1000000000 / source->rate);
    IN_RESUME
    return INLET_OK;
}

static void good_close(inlet_source *source) {
    (void)source;
    IN_CLOSE
}

static void good_destroy(inlet_source *source) {
    IN_DESTROY
    free(source);
}

static const inlet_source_interface good_source = {
    .size = sizeof good_source, .create = good_create, .open = good_open, .next = good_next, .pause = good_pause,
    .resume = RESUME, .close = good_close, .destroy = good_destroy};

static inlet_result good_init(const inlet_host *host, inlet_error *error) {
    (void)error;
    inlet = host;
    IN_INIT
    return INLET_OK;
}

static void good_deinit(void) { IN_DEINIT }

static const void *good_get_interface(const char *id) { return INTERFACE(id); }

const inlet_plugin inlet_plugin_entry = {
    .size = sizeof(inlet_plugin), .magic = INLET_PLUGIN_MAGIC, .major = INLET_PLUGIN_MAJOR, .init = good_init,
    .deinit = good_deinit, .get_interface = good_get_interface};
