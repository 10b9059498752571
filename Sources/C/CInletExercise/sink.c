/* The exercises of a sink. */
#include "exercise.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* A grey picture of 64x48, encoded by libx264: its parameter sets and one IDR slice, in Annex B format of H.264. */
enum { PARAMETER_SETS = 35 };
static const uint8_t access_unit[] = {
    0x00, 0x00, 0x00, 0x01, 0x67, 0x42, 0xc0, 0x0a, 0xdc, 0x47, 0xb0, 0x11, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00,
    0x03, 0x00, 0x32, 0x0f, 0x12, 0x27, 0x80, 0x00, 0x00, 0x00, 0x01, 0x68, 0xce, 0x0f, 0x2c, 0x80, 0x00, 0x00, 0x01,
    0x65, 0x88, 0x84, 0x04, 0xbc, 0x98, 0xa0, 0x00, 0x20, 0x2f, 0x27, 0x27, 0x27, 0x5d, 0x75, 0xd7, 0x5d, 0x75, 0xd7,
    0x80};

struct sink {
    inlet_sink *sink;
    struct {
        inlet_sink_host value;
        uint8_t future[64];
    } host;
    int wake;
    atomic_int is_cancelled, is_destroyed;
    padded_error error;
    padded_wants wants;
    inlet_result result;
    int64_t duration;
    int is_started;
    int64_t count;
};

/* The memory of a picture: one mapping per plane, which ends at an inaccessible page. */
static struct {
    uint8_t *mapping, *rows;
    size_t length;
} memory[3];

static int32_t is_cancelled(void *context) {
    struct sink *sink = context;
    if (!sink) FAIL("is_cancelled was called without the context of inlet_sink_host. Pass host->context.");
    if (atomic_load(&sink->is_destroyed))
        FAIL("is_cancelled was called after destroy. Stop and join the sink's threads before that.");
    return atomic_load(&sink->is_cancelled);
}

static void request_key_frame(void *context) {
    struct sink *sink = context;
    if (!sink) FAIL("request_key_frame was called without the context of inlet_sink_host. Pass host->context.");
    if (atomic_load(&sink->is_destroyed)) FAIL("request_key_frame was called after destroy.");
}

/* Never freed, so that a call after destroy is detected. */
static struct sink *create(void) {
    struct sink *sink = calloc(1, sizeof *sink);
    if (!sink) end_with(NOT_APPLICABLE, "Not enough memory for the exercise.");
    sink->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sink->host.value = (inlet_sink_host){
        .size = sizeof sink->host, .wake_fd = sink->wake, .context = sink, .is_cancelled = is_cancelled,
        .request_key_frame = request_key_frame};
    prepare(&sink->error, sizeof sink->error.value);
    prepare(&sink->wants, sizeof sink->wants.value);
    enter("create", 5 * SECOND);
    sink->result = sink_table.create(
        exercise->configuration, &sink->host.value, &sink->sink, &sink->wants.value, &sink->error.value);
    leave();
    check_result(sink->result, 0, &sink->error, "create");
    check_struct(&sink->wants, sizeof sink->wants.value, "create", "wants");
    if (sink->result != INLET_OK) cannot_open("create", sink->result, sink->error.value.message);
    if (!sink->sink) FAIL("create succeeded and left *sink null. Set it to the instance.");
    if (sink->wants.value.reserved)
        FAIL("create set wants->reserved to %u. Leave it at 0.", sink->wants.value.reserved);
    return sink;
}

static inlet_result start(struct sink *sink, uint32_t width, uint32_t height) {
    inlet_stream stream = {
        .size = sizeof stream, .pacing = INLET_PACING_REALTIME, .width = width, .height = height, .time_base = {1, 25},
        .frame_rate = {25, 1}, .sample_aspect_ratio = {1, 1}, .color = {6, 6, 6, 1}};
    if (sink->wants.value.packets) {
        strcpy(stream.codec, "h264");
        stream.width = 64, stream.height = 48;
        stream.parameter_sets = access_unit;
        stream.parameter_sets_length = PARAMETER_SETS;
    } else {
        strcpy(stream.pixel_format, "yuv420p");
    }
    prepare(&sink->error, sizeof sink->error.value);
    enter("start", 10 * SECOND);
    sink->result = sink_table.start(sink->sink, now() + 5 * SECOND, &stream, &sink->error.value);
    leave();
    sink->is_started = 1;
    check_result(sink->result, 0, &sink->error, "start");
    return sink->result;
}

static void lay_out(inlet_picture *picture, uint32_t width, uint32_t height) {
    static const char *const names[] = {
        "after plane 0 of its picture", "after plane 1 of its picture",
        "after plane 2 of its picture"};
    picture->width = width;
    picture->height = height;
    strcpy(picture->pixel_format, "yuv420p");
    picture->sample_aspect_ratio = (inlet_rational){1, 1};
    picture->color = (inlet_color){6, 6, 6, 1};
    picture->plane_count = 3;
    for (int i = 0; i < 3; i++) {
        size_t row = i ? (width + 1) / 2 : width, rows = i ? (height + 1) / 2 : height, stride = (row + 63) / 64 * 64;
        size_t wanted = stride * rows, pages = (wanted + PAGE - 1) / PAGE * PAGE;
        if (memory[i].length != pages + PAGE) {
            if (memory[i].mapping) munmap(memory[i].mapping, memory[i].length);
            memory[i].length = pages + PAGE;
            memory[i].mapping = mmap(NULL, memory[i].length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory[i].mapping == MAP_FAILED) end_with(NOT_APPLICABLE, "Not enough memory for a picture.");
        }
        mprotect(memory[i].mapping, pages, PROT_READ | PROT_WRITE);
        name_guard(i, memory[i].mapping + pages, PAGE, names[i]);
        name_guard(3 + i, NULL, 0, NULL);
        memory[i].rows = memory[i].mapping + pages - wanted;
        memset(memory[i].rows, 100 + 10 * i, wanted);
        picture->planes[i] = (inlet_plane){memory[i].rows, wanted, 0, (int64_t)stride};
    }
}

static inlet_result consume(struct sink *sink, uint32_t width, uint32_t height) {
    int64_t time = now();
    inlet_item item = {
        .size = sizeof item, .flags = INLET_FLAG_KEY, .sequence = (uint64_t)sink->count, .pts = sink->count,
            .duration = 1,
        .capture_time = time, .wall_clock = INLET_NO_TIME};
    item.packet.dts = INLET_NO_TIME;
    if (sink->wants.value.packets) {
        item.is_packet = 1;
        item.packet.data = access_unit + PARAMETER_SETS;
        item.packet.length = sizeof access_unit - PARAMETER_SETS;
        item.packet.dts = sink->count;
    } else {
        lay_out(&item.picture, width, height);
    }
    sink->count++;
    prepare(&sink->error, sizeof sink->error.value);
    enter("consume", 10 * SECOND);
    sink->result = sink_table.consume(sink->sink, time + 5 * SECOND, &item, &sink->error.value);
    sink->duration = leave();
    sink->duration -= excuse;
    check_result(sink->result, INLET_END, &sink->error, "consume");
    if (!sink->wants.value.packets)
        for (int i = 0; i < 3; i++) {
            size_t stride = (size_t)item.picture.planes[i].stride;
            for (size_t k = 0; k < item.picture.planes[i].length; k += stride > 64 ? 61 : 7)
                if (memory[i].rows[k] != 100 + 10 * i)
                    FAIL("consume changed byte %zu of plane %d of its picture. Other sinks read the same memory. "
                         "Change a copy.",
                        k, i);
            /* A sink that continues to read crashes. */
            name_guard(3 + i, memory[i].mapping, memory[i].length - PAGE, "of a picture after consume had returned");
            mprotect(memory[i].mapping, memory[i].length - PAGE, PROT_NONE);
        }
    return sink->result;
}

static void finish(struct sink *sink) {
    if (sink->is_started) {
        prepare(&sink->error, sizeof sink->error.value);
        enter("finish", 5 * SECOND);
        sink->result = sink_table.finish(sink->sink, now() + SECOND, &sink->error.value);
        sink->duration = leave();
        check_result(sink->result, 0, &sink->error, "finish");
        if (sink->result < 0 && !atomic_load(&sink->is_cancelled))
            FAIL("finish failed with %d while nothing was wrong: %.300s", sink->result, sink->error.value.message);
        if (sink->duration > SECOND + 500 * MILLISECOND)
            end_with(LATE, "finish took %.1f s, but its deadline was 1 s.", (double)sink->duration / 1e9);
    }
    enter("destroy", 5 * SECOND);
    sink_table.destroy(sink->sink);
    leave();
    atomic_store(&sink->is_destroyed, 1);
    close(sink->wake);
}

/* Gives a sink pictures of one size. Returns 0 when it wants no more. */
static int give(struct sink *sink, int count, uint32_t width, uint32_t height) {
    for (int i = 0; i < count; i++) {
        inlet_result result = consume(sink, width, height);
        if (result == INLET_END) return 0;
        if (result != INLET_OK)
            FAIL("consume failed with %d at item %lld of %ux%u while nothing was wrong: %.200s", result,
                (long long)sink->count - 1, width, height, sink->error.value.message);
    }
    return 1;
}

/* A sink that states a maximum size gets nothing larger. */
static uint32_t limited(uint32_t wanted, uint32_t most) { return most && most < wanted ? most : wanted; }

void exercise_sink(void) {
    load();
    finish(create());
    struct sink *sink = create();
    uint32_t most_width = sink->wants.value.width, most_height = sink->wants.value.height;
    uint32_t width = limited(63, most_width), height = limited(49, most_height);
    if (start(sink, width, height) != INLET_OK) cannot_open("start", sink->result, sink->error.value.message);
    int goes_on = give(sink, 6, width, height);
    /* A changed stream is accepted, or refused with an error. */
    width = limited(101, most_width), height = limited(35, most_height);
    if (goes_on && !sink->wants.value.packets) {
        if (start(sink, width, height) == INLET_OK) give(sink, 3, width, height);
        else if (sink->result != INLET_ERROR_UNSUPPORTED)
            FAIL("start failed with %d when the size of the pictures changed: %.200s. Return INLET_ERROR_UNSUPPORTED "
                 "if only one size is possible.",
                sink->result, sink->error.value.message);
    }
    int64_t items = sink->count;
    finish(sink);
    /* A sink that gets no item. */
    sink = create();
    if (start(sink, limited(64, most_width), limited(48, most_height)) != INLET_OK)
        FAIL("start failed with %d, but succeeded before: %.300s", sink->result, sink->error.value.message);
    finish(sink);
    int64_t best = INT64_MAX;
    for (int attempt = 0; attempt < 5 && best > 100 * MILLISECOND; attempt++) {
        sink = create();
        uint64_t one = 1;
        if (start(sink, limited(64, most_width), limited(48, most_height)) == INLET_OK) {
            atomic_store(&sink->is_cancelled, 1);
            if (write(sink->wake, &one, sizeof one) < 0) end_with(NOT_APPLICABLE, "The exercise cannot cancel.");
            consume(sink, limited(64, most_width), limited(48, most_height));
            best = sink->duration;
        } else {
            best = 0;
        }
        finish(sink);
    }
    if (best > 100 * MILLISECOND)
        end_with(LATE, "consume took %lld ms after a cancellation in the best of 5 attempts; 100 ms are allowed.",
            (long long)(best / MILLISECOND));
    remark("%lld %s", (long long)items, sink->wants.value.packets ? "packets" : "pictures of two sizes");
}

static int write_and_finish(void) {
    struct sink *sink = create();
    uint32_t width = limited(64, sink->wants.value.width), height = limited(48, sink->wants.value.height);
    if (start(sink, width, height) != INLET_OK) cannot_open("start", sink->result, sink->error.value.message);
    consume(sink, width, height);
    finish(sink);
    free(sink);
    return 1;
}

void exercise_sink_leaks(void) {
    load();
    int rounds = measure("Starting, one item and finishing", 1000, 5 * SECOND, write_and_finish);
    remark("%d times", rounds);
}
