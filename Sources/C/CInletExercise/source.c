#include "exercise.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* A call that exceeds its deadline by more counts as hung. */
static const int64_t patience = 5 * SECOND;

inlet_result create_source(struct instance *instance, struct host *host) {
    memset(instance, 0, sizeof *instance);
    instance->host = host;
    host->caller = pthread_self();
    reset(host);
    prepare(&instance->error, sizeof instance->error.value);
    enter("create", patience);
    instance->result = source_table.create(
        exercise->configuration, &host->table, &instance->source, &instance->error.value);
    instance->duration = leave();
    check_result(instance->result, 0, &instance->error, "create");
    if (instance->result == INLET_OK && !instance->source)
        FAIL("create succeeded and left *source null. Set it to the instance.");
    return instance->result;
}

inlet_result open_source(struct instance *instance, int64_t deadline) {
    int64_t time = now();
    prepare(&instance->stream, sizeof instance->stream.value);
    prepare(&instance->error, sizeof instance->error.value);
    enter("open", (deadline > time ? deadline - time : 0) + patience);
    instance->result = source_table.open(
        instance->source, deadline, &instance->stream.value, &instance->error.value);
    instance->duration = leave();
    instance->excuse = excuse;
    check_result(instance->result, 0, &instance->error, "open");
    check_struct(&instance->stream, sizeof instance->stream.value, "open", "stream");
    if (instance->result == INLET_ERROR_CANCELLED && !atomic_load(&instance->host->is_cancelled))
        FAIL("open returned INLET_ERROR_CANCELLED, but was not cancelled.");
    return instance->result;
}

/* Checks that the plug-in wrote to every row of the slot and to its last column. */
static void check_written(const struct host *host, const inlet_item *item) {
    if (item->flags & INLET_FLAG_CORRUPT) return;
    for (int i = 0; i < host->plane_count; i++) {
        const inlet_exercise_plane *plane = &host->planes[i];
        uint64_t last_column = 0;
        for (uint64_t row = 0; row < plane->rows; row++) {
            const uint8_t *bytes = host->memory[i].rows + row * plane->stride;
            uint64_t same = 0;
            for (uint64_t k = 0; k < plane->row_bytes; k++)
                same += bytes[k] == fill_byte(host->slot, i, row * plane->stride + k);
            uint64_t last = plane->row_bytes - 1;
            last_column += bytes[last] == fill_byte(host->slot, i, row * plane->stride + last);
            if (same == plane->row_bytes && same >= 8)
                FAIL("next did not write row %llu of plane %d of its slot, which has %llu rows at %ux%u in %s. A plane "
                     "of chroma has half of the rows, rounded up.",
                    (unsigned long long)row, i, (unsigned long long)plane->rows, host->width, host->height,
                        host->format);
        }
        if (last_column == plane->rows && plane->rows >= 8)
            FAIL("next did not write the last byte of the rows of plane %d of its slot, which have %llu bytes at %ux%u "
                 "in %s. A plane of chroma has half of the columns, rounded up.",
                i, (unsigned long long)plane->row_bytes, host->width, host->height, host->format);
    }
}

static void check_picture(struct instance *instance) {
    const inlet_item *item = &instance->item.value;
    const inlet_picture *picture = &item->picture;
    struct host *host = instance->host;
    if (!memchr(picture->pixel_format, 0, sizeof picture->pixel_format))
        FAIL("next left picture.pixel_format without a zero byte at its end. Use FFmpeg's name of a format.");
    if (picture->reserved) FAIL("next set picture.reserved to %u. Leave it at 0.", picture->reserved);
    inlet_exercise_plane planes[4];
    int count = exercise->layout(picture->pixel_format, picture->width, picture->height, planes);
    if (count == -1)
        FAIL("next yielded a picture in the format '%.23s', which Inlet does not know. Use FFmpeg's name of a common "
             "one.",
            picture->pixel_format);
    if (count < 0) FAIL("next yielded a picture of the impossible size %ux%u.", picture->width, picture->height);
    if (picture->is_in_slot) {
        if (!host->is_granted || picture->slot != host->slot)
            FAIL("next yielded slot %u, which get_slot did not return in this call.", picture->slot);
        if (picture->width != host->width || picture->height != host->height
            || strcmp(picture->pixel_format, host->format))
            FAIL("next yielded a picture of %ux%u in %s in a slot that it requested for %ux%u in %s.", picture->width,
                picture->height, picture->pixel_format, host->width, host->height, host->format);
        check_written(host, item);
        return;
    }
    if (picture->plane_count != (uint32_t)count)
        FAIL("next lent a picture in %s with %u planes, but that format has %d.", picture->pixel_format,
            picture->plane_count, count);
    for (int i = 0; i < count; i++) {
        const inlet_plane *plane = &picture->planes[i];
        if (!plane->data) FAIL("next lent a picture whose plane %d has a null pointer.", i);
        uint64_t stride = plane->stride < 0 ? -(uint64_t)plane->stride : (uint64_t)plane->stride;
        uint64_t rows = planes[i].rows - 1, reach = 0, end = 0;
        int is_wrong = (planes[i].rows > 1 && stride < planes[i].row_bytes) || plane->offset > plane->length
            || __builtin_mul_overflow(rows, stride, &reach);
        if (!is_wrong && plane->stride < 0) is_wrong = reach > plane->offset;
        uint64_t lowest = plane->stride < 0 ? plane->offset : plane->offset + reach;
        if (!is_wrong) is_wrong = __builtin_add_overflow(lowest, planes[i].row_bytes, &end) || end > plane->length;
        if (is_wrong)
            FAIL("next lent a picture of %ux%u in %s whose plane %d (offset %llu, stride %lld, length %llu) does not "
                 "hold %llu rows of %llu bytes.",
                picture->width, picture->height, picture->pixel_format, i, (unsigned long long)plane->offset,
                (long long)plane->stride, (unsigned long long)plane->length, (unsigned long long)planes[i].rows,
                (unsigned long long)planes[i].row_bytes);
    }
}

static void check_item(struct instance *instance) {
    const inlet_item *item = &instance->item.value;
    const uint32_t known = INLET_FLAG_KEY | INLET_FLAG_CORRUPT | INLET_FLAG_DISCONTINUITY | INLET_FLAG_LOSS;
    if (item->flags & ~known) FAIL("next set the unknown flags 0x%x.", item->flags & ~known);
    if (item->reserved) FAIL("next set item->reserved to %u. Leave it at 0.", item->reserved);
    if (item->duration < 0)
        FAIL("next set item->duration to %lld ticks. Use 0 if it is unknown.", (long long)item->duration);
    int64_t age = now() - item->capture_time;
    if (item->capture_time != INLET_NO_TIME && (item->capture_time < 0 || age < -SECOND || age > 600 * SECOND))
        FAIL("next set item->capture_time to %lld, which is %.1f s from the current time of CLOCK_MONOTONIC. Use that "
             "clock, or leave it at INLET_NO_TIME.",
            (long long)item->capture_time, (double)-age / 1e9);
    if (item->is_packet > 1) FAIL("next set item->is_packet to %u. Use 0 or 1.", item->is_packet);
    if (item->is_packet) {
        if (!item->packet.data || !item->packet.length)
            FAIL("next yielded a packet of %llu bytes at %p. A packet must have data.",
                (unsigned long long)item->packet.length,
                (const void *)item->packet.data);
        if (item->packet.parameter_sets_length && !item->packet.parameter_sets)
            FAIL("next yielded %llu bytes of parameter sets at a null pointer.",
                (unsigned long long)item->packet.parameter_sets_length);
        if (!*instance->stream.value.codec)
            FAIL("next yielded a packet, but open left stream->codec empty. Set it to FFmpeg's name.");
    } else {
        if (*instance->stream.value.codec)
            FAIL("next yielded a picture, but open set stream->codec to '%.23s'. Leave that empty for pictures.",
                instance->stream.value.codec);
        check_picture(instance);
    }
}

inlet_result next_item(struct instance *instance, int64_t deadline) {
    int64_t time = now();
    struct host *host = instance->host;
    prepare(&instance->item, sizeof instance->item.value);
    instance->item.value.pts = instance->item.value.capture_time = instance->item.value.wall_clock = INLET_NO_TIME;
    instance->item.value.packet.dts = INLET_NO_TIME;
    prepare(&instance->error, sizeof instance->error.value);
    host->is_granted = 0;
    atomic_store(&host->is_in_next, 1);
    enter("next", (deadline > time ? deadline - time : 0) + patience);
    instance->begin = now();
    instance->result = source_table.next(
        instance->source, deadline, &instance->item.value, &instance->error.value);
    instance->duration = leave();
    instance->excuse = excuse;
    atomic_store(&host->is_in_next, 0);
    check_result(instance->result, INLET_AGAIN, &instance->error, "next");
    check_struct(&instance->item, sizeof instance->item.value, "next", "item");
    if (atomic_load(&host->is_cancelled)) {
        struct pollfd wake = {.fd = host->wake, .events = POLLIN};
        if (fcntl(host->wake, F_GETFD) < 0 || poll(&wake, 1, 0) < 1)
            FAIL("next read or closed wake_fd. Only poll it: it must stay readable once the instance is cancelled.");
    } else if (instance->result == INLET_ERROR_CANCELLED) {
        FAIL("next returned INLET_ERROR_CANCELLED, but was not cancelled.");
    }
    if (instance->result == INLET_OK) check_item(instance);
    return instance->result;
}

void release_item(const inlet_item *item) {
    if (!item->release) return;
    enter("release", 5 * SECOND);
    item->release(item->release_data);
    leave();
}

void close_source(struct instance *instance) {
    enter("close", 1 * SECOND + patience);
    source_table.close(instance->source);
    instance->duration = leave();
}

void destroy_source(struct instance *instance) {
    enter("destroy", patience);
    source_table.destroy(instance->source);
    leave();
    atomic_store(&instance->host->is_destroyed, 1);
}

void begin_source(struct instance *instance, struct host *host) {
    if (create_source(instance, host) != INLET_OK)
        cannot_open("create", instance->result, instance->error.value.message);
    if (open_source(instance, now() + 10 * SECOND) != INLET_OK)
        cannot_open("open", instance->result, instance->error.value.message);
}

int wait_for_item(struct instance *instance, int64_t limit) {
    int64_t end = now() + limit;
    int early = 0;
    do {
        int64_t deadline = now() + SECOND / 2;
        inlet_result result = next_item(instance, deadline);
        if (result == INLET_OK) return 1;
        if (result == INLET_END) return 0;
        /* One failure may be the device's fault. */
        if (result < 0)
            end_with(LATE, "next failed with %d while nothing was wrong here: %.300s", result,
                instance->error.value.message);
        /* Returning INLET_AGAIN at once, again and again, is a loop without a wait. */
        early = now() < deadline - 100 * MILLISECOND ? early + 1 : 0;
        if (early >= 20)
            FAIL("next returned INLET_AGAIN %d times long before its deadline. Wait in it for the next picture, "
                 "the deadline or wake_fd: otherwise it runs in a loop.",
                early);
    } while (now() < end);
    return 0;
}

void end_source(struct instance *instance) {
    close_source(instance);
    destroy_source(instance);
}

static uint64_t sum(uint64_t hash, const uint8_t *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t checksum(const inlet_item *item) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (item->is_packet) return sum(hash, item->packet.data, item->packet.length);
    if (item->picture.is_in_slot) return hash;
    inlet_exercise_plane planes[4];
    int count = exercise->layout(item->picture.pixel_format, item->picture.width, item->picture.height, planes);
    for (int i = 0; i < count; i++) {
        const inlet_plane *plane = &item->picture.planes[i];
        for (uint64_t row = 0; row < planes[i].rows; row++)
            hash = sum(hash, plane->data + plane->offset + (int64_t)row * plane->stride, planes[i].row_bytes);
    }
    return hash;
}
