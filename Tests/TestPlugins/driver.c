/*
 * driver: calls a source in a library as Inlet does, in this process and without a sandbox, and prints the results.
 *
 *   driver LIBRARY ADDRESS COUNT [hold=N] [cancel=N] [seconds=N] [NAME=VALUE]...
 *
 * Reads COUNT items, holds the newest N of them unreleased (default 2), and cancels in the call after item N. Each line
 * names a call and its result; one for an item ends in the FNV-1a hash of its bytes, row by row.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inlet_plugin.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HELD = 64 };

static int wake;
static uint8_t *memory;
static inlet_slot granted;
static long dropped;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void print_log(inlet_log_level level, const char *text) { printf("log %d %s\n", level, text); }

static const void *no_extension(const char *id) { return (void)id, NULL; }

static int32_t is_cancelled(void *context) {
    uint64_t count = 0;
    (void)context;
    if (read(wake, &count, sizeof count) < 0) return 0;
    return write(wake, &count, sizeof count) > 0;
}

static void progress(void *context) { (void)context; }

static void drop(void *context, const char *reason, uint64_t count) {
    (void)context;
    dropped += (long)count;
    printf("drop %s %" PRIu64 "\n", reason, count);
}

static void interruption(void *context, const char *reason) { printf("interruption %s\n", reason), (void)context; }

static void interruption_end(void *context) { printf("interruption-end\n"), (void)context; }

static uint32_t key_frames;

static void demand(void *context, inlet_demand *wanted) {
    (void)context;
    wanted->wants_pictures = 1;
    wanted->key_frame_requests = key_frames;
}

/*
 * Only for yuv420p, and for formats of one plane of at most four bytes a pixel. Writes no more than the plug-in has
 * room for: its header may be older than this program's.
 */
static inlet_result slot(
    void *context, const char *format, uint32_t width, uint32_t height, inlet_slot *place, inlet_error *error) {
    (void)context, (void)error;
    uint64_t length = (uint64_t)width * height * 4;
    uint32_t count = strcmp(format, "yuv420p") ? 1 : 3;
    memory = realloc(memory, (size_t)length * 3);
    granted = (inlet_slot){.plane_count = count};
    for (uint32_t i = 0; i < count; i++)
        granted.planes[i] = (inlet_plane){memory + i * length, length, 0, (int64_t)width * 4};
    granted.size = place->size;
    memcpy(place, &granted, place->size < sizeof granted ? place->size : sizeof granted);
    return memory ? INLET_OK : INLET_ERROR_RESOURCE_EXHAUSTED;
}

static void print_item(const inlet_item *item, int row_bytes) {
    uint64_t hash = UINT64_C(14695981039346656037);
    if (item->is_packet) {
        for (uint64_t i = 0; i < item->packet.length; i++)
            hash = (hash ^ item->packet.data[i]) * UINT64_C(1099511628211);
        printf("packet %" PRIu64, item->packet.length);
    } else {
        const inlet_plane *plane = item->picture.is_in_slot ? &granted.planes[0] : &item->picture.planes[0];
        for (uint32_t row = 0; row < item->picture.height; row++) {
            for (int i = 0; i < row_bytes; i++) {
                uint8_t byte = plane->data[plane->offset + (uint64_t)(row * plane->stride) + (uint64_t)i];
                hash = (hash ^ byte) * UINT64_C(1099511628211);
            }
        }
        printf("picture %ux%u %s", item->picture.width, item->picture.height, item->picture.pixel_format);
    }
    printf(
        " sequence %" PRIu64 " pts %" PRId64 " flags %u age-ms %" PRId64 " hash %016" PRIx64 "\n", item->sequence,
        item->pts, item->flags, item->capture_time == INLET_NO_TIME ? -1 : (now() - item->capture_time) / 1000000,
        hash);
}

static void *cancel(void *argument) {
    const uint64_t one = 1;
    usleep(300000);
    *(int64_t *)argument = now();
    if (write(wake, &one, sizeof one) < 0) abort();
    return NULL;
}

int main(int count, char **words) {
    if (count < 4) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int hold = 2, most = atoi(words[3]), cancel_after = -1, key_after = -1, seconds = 10;
    inlet_option options[16];
    inlet_configuration configuration = {.size = sizeof configuration, .address = words[2], .options = options};
    for (int i = 4; i < count && configuration.option_count < 16; i++) {
        char *value = strchr(words[i], '=');
        if (!value) return 64;
        *value++ = 0;
        if (!strcmp(words[i], "hold")) hold = atoi(value) % MOST_HELD;
        else if (!strcmp(words[i], "cancel")) cancel_after = atoi(value);
        else if (!strcmp(words[i], "key")) key_after = atoi(value);
        else if (!strcmp(words[i], "seconds")) seconds = atoi(value);
        else options[configuration.option_count++] = (inlet_option){words[i], value};
    }
    void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    const inlet_plugin *entry = library ? dlsym(library, "inlet_plugin_entry") : NULL;
    if (!entry) {
        printf("load %s\n", dlerror());
        return 1;
    }
    const inlet_host host = {
        .size = sizeof host, .major = INLET_PLUGIN_MAJOR, .minor = INLET_PLUGIN_MINOR, .name = "driver",
        .version = "1", .log = print_log, .now = now, .get_extension = no_extension};
    const inlet_source_host source_host = {
        .size = sizeof source_host, .wake_fd = wake, .is_cancelled = is_cancelled, .report_progress = progress,
        .count_drop = drop, .begin_interruption = interruption, .end_interruption = interruption_end,
        .get_demand = demand, .get_slot = slot};
    inlet_error error = {.size = sizeof error};
    if (entry->magic != INLET_PLUGIN_MAGIC || entry->init(&host, &error) != INLET_OK) return 1;
    const inlet_source_interface *interface = entry->get_interface(INLET_SOURCE_ID);
    inlet_source *source = NULL;
    inlet_result result = interface->create(&configuration, &source_host, &source, &error);
    printf("create %d %s\n", result, error.message);
    if (result != INLET_OK) return 0;

    inlet_stream stream = {.size = sizeof stream};
    pthread_t canceller;
    int64_t cancelled = 0;
    if (cancel_after == 0) pthread_create(&canceller, NULL, cancel, &cancelled);
    result = interface->open(source, now() + seconds * INT64_C(1000000000), &stream, &error);
    printf(
        "open %d %s%s%s %ux%u rate %d/%d sets %" PRIu64 " %s\n", result, stream.pixel_format,
        *stream.codec ? "packets " : "", stream.codec, stream.width, stream.height, stream.frame_rate.numerator,
        stream.frame_rate.denominator, stream.parameter_sets_length, error.message);
    inlet_item held[MOST_HELD] = {0};
    int items = 0;
    while (result == INLET_OK && items < most) {
        inlet_item item = {
            .size = sizeof item, .pts = INLET_NO_TIME, .capture_time = INLET_NO_TIME, .wall_clock = INLET_NO_TIME};
        key_frames = key_after >= 0 && items >= key_after;
        if (items == cancel_after && items > 0 && !cancelled) pthread_create(&canceller, NULL, cancel, &cancelled);
        result = interface->next(source, now() + seconds * INT64_C(1000000000), &item, &error);
        if (result != INLET_OK) {
            printf("next %d %s\n", result, error.message);
            break;
        }
        int bytes = !strcmp(item.picture.pixel_format, "rgb24") ? 3 : 1;
        print_item(&item, bytes * (int)item.picture.width);
        inlet_item *place = &held[items++ % (hold + 1)];
        if (place->release) place->release(place->release_data);
        *place = item;
    }
    if (cancelled) {
        pthread_join(canceller, NULL);
        printf("cancelled-ms %" PRId64 "\n", (now() - cancelled) / 1000000);
    }
    int64_t before = now();
    interface->close(source);
    printf("close-ms %" PRId64 "\n", (now() - before) / 1000000);
    interface->destroy(source);
    /* Lent items may be read and released after destroy. */
    for (int i = 0; i < MOST_HELD; i++) {
        if (!held[i].release) continue;
        print_item(&held[i], held[i].is_packet ? 0 : (int)held[i].picture.width);
        held[i].release(held[i].release_data);
    }
    entry->deinit();
    printf("done %d items %ld dropped\n", items, dropped);
    return 0;
}
