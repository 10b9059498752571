/* The exercises of one instance of a source: the items that it yields, and their timing. */
#include "exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The order and the times of the previous items. */
struct order {
    int count;
    uint64_t sequence;
    int64_t pts, dts;
    int64_t first_pts, first_time;
};

static double seconds(const inlet_stream *stream, int64_t ticks) {
    return (double)ticks * stream->time_base.numerator / stream->time_base.denominator;
}

/* Whether a time has gone back, except by a wrap of its counter. */
static int goes_back(const inlet_stream *stream, int64_t from, int64_t to) {
    if (to > from) return 0;
    uint32_t bits = stream->timestamp_bits;
    return !(bits > 0 && bits < 63 && from - to > INT64_C(1) << (bits - 1));
}

static void check_order(struct order *order, const inlet_stream *stream, const inlet_item *item) {
    int is_new = order->count == 0 || item->flags & INLET_FLAG_DISCONTINUITY;
    if (order->count == 0 && item->sequence > 1000000)
        FAIL("next gave the first item the sequence number %llu. Count from 0 in each instance.",
            (unsigned long long)item->sequence);
    if (order->count > 0 && item->sequence <= order->sequence)
        FAIL("next gave the sequence number %llu after %llu. It numbers the source's items, and rises with each "
             "item.",
            (unsigned long long)item->sequence, (unsigned long long)order->sequence);
    int64_t dts = item->is_packet ? item->packet.dts : INLET_NO_TIME;
    if (!is_new && dts != INLET_NO_TIME && order->dts != INLET_NO_TIME && goes_back(stream, order->dts, dts))
        FAIL("next gave the DTS %lld after %lld. DTS rises with each packet, except at INLET_FLAG_DISCONTINUITY.",
            (long long)dts, (long long)order->dts);
    if (dts != INLET_NO_TIME && item->pts != INLET_NO_TIME && item->pts < dts)
        FAIL("next gave a packet the PTS %lld and the later DTS %lld. A packet is decoded before it is shown.",
            (long long)item->pts, (long long)dts);
    if (!is_new && !item->is_packet && item->pts != INLET_NO_TIME && order->pts != INLET_NO_TIME
        && goes_back(stream, order->pts, item->pts))
        FAIL("next gave the PTS %lld after %lld. PTS rises with each picture, except at INLET_FLAG_DISCONTINUITY.",
            (long long)item->pts, (long long)order->pts);
    if (is_new || item->pts == INLET_NO_TIME) {
        order->first_pts = item->pts;
        order->first_time = now();
    }
    order->count++;
    order->sequence = item->sequence;
    order->pts = item->pts;
    order->dts = dts;
}

/* Checks that PTS advance about as fast as time. Only large errors count, because machines are busy. */
static void check_pace(const struct order *order, const inlet_stream *stream) {
    if (stream->pacing == INLET_PACING_NONE || order->count < 8) return;
    if (order->first_pts == INLET_NO_TIME || order->pts == INLET_NO_TIME || order->pts <= order->first_pts) return;
    double elapsed = (double)(now() - order->first_time) / 1e9;
    double advanced = seconds(stream, order->pts - order->first_pts);
    /* Some devices deliver several items at once. */
    if (advanced > 8 * elapsed + 2 || elapsed > 8 * advanced + 2)
        FAIL("The PTS of %d items advance by %.3f s of the time base %d/%d within %.3f s, but pacing is %s. Correct "
             "the time base, the PTS or the pacing.",
            order->count, advanced, stream->time_base.numerator, stream->time_base.denominator, elapsed,
            stream->pacing == INLET_PACING_LIVE ? "INLET_PACING_LIVE" : "INLET_PACING_REALTIME");
}

static void check_stream(const inlet_stream *stream) {
    if (stream->pacing > INLET_PACING_NONE) FAIL("open set stream->pacing to %u; see INLET_PACING_...", stream->pacing);
    if (stream->time_base.numerator <= 0 || stream->time_base.denominator <= 0)
        FAIL("open set stream->time_base to %d/%d. Make both parts greater than 0, such as 1/90000.",
            stream->time_base.numerator, stream->time_base.denominator);
    if (!memchr(stream->codec, 0, sizeof stream->codec)
        || !memchr(stream->pixel_format, 0, sizeof stream->pixel_format))
        FAIL("open left stream->codec or stream->pixel_format without a zero byte at its end.");
    if (stream->rotation % 90 || stream->rotation > 270)
        FAIL("open set stream->rotation to %u degrees. Use 0, 90, 180 or 270.", stream->rotation);
    if (stream->frame_rate.numerator < 0 || stream->frame_rate.denominator < 0)
        FAIL("open set stream->frame_rate to %d/%d. Use 0/0 if it is unknown.", stream->frame_rate.numerator,
            stream->frame_rate.denominator);
    if (stream->duration < 0)
        FAIL("open set stream->duration to %lld. Use 0 if it is unknown.", (long long)stream->duration);
}

static void read_items(int most, int64_t limit) {
    load();
    struct instance instance;
    begin_source(&instance, new_host());
    const inlet_stream stream = instance.stream.value;
    check_stream(&stream);
    struct order order = {0};
    int has_key = 0;
    int64_t end = now() + limit;
    while (order.count < most && (now() < end || order.count < 2)) {
        if (!wait_for_item(&instance, 8 * SECOND)) {
            if (instance.result == INLET_END) break;
            end_with(
                LATE, "next yielded %s within 8 s. Check that the device sends data, and that next waits for it.",
                order.count ? "nothing more" : "nothing");
        }
        const inlet_item *item = &instance.item.value;
        checksum(item);
        check_order(&order, &stream, item);
        has_key |= (item->flags & INLET_FLAG_KEY) != 0;
        if (order.count == 1 && item->is_packet && !has_key && stream.pacing != INLET_PACING_LIVE)
            FAIL("The first packet is without INLET_FLAG_KEY, so that nothing can be decoded from the start. Set it on "
                 "packets that decode without others.");
        release_item(item);
    }
    check_pace(&order, &stream);
    if (!order.count) end_with(NOT_OPENED, "the stream ended before its first picture or packet.");
    end_source(&instance);
    if (*stream.codec) remark("%d packets of %s", order.count, stream.codec);
    else remark("%d pictures of %ux%u in %s", order.count, instance.host->width ? instance.host->width : stream.width,
        instance.host->height ? instance.host->height : stream.height, stream.pixel_format);
}

void exercise_items(void) { read_items(60, 3 * SECOND); }

/* The same with fewer items, for many option values. */
void exercise_few_items(void) { read_items(5, SECOND); }

/* A thread that cancels after a delay. */
struct canceller {
    struct host *host;
    int64_t delay;
    atomic_llong time;
};

static void *run_canceller(void *data) {
    struct canceller *canceller = data;
    sleep_for(canceller->delay);
    atomic_store(&canceller->time, now());
    cancel(canceller->host);
    return NULL;
}

enum { ATTEMPTS = 5 };

/* The allowed delay of a call's return. */
static const int64_t allowed = 100 * MILLISECOND;

/*
 * The delays of a call's return in several attempts. The second smallest counts: a busy machine may delay any attempt,
 * and may once stall for just the time by which a call is late.
 */
struct lateness {
    int64_t best, second;
};

static void note_lateness(struct lateness *seen, int64_t late) {
    if (late < seen->best) seen->second = seen->best, seen->best = late;
    else if (late < seen->second) seen->second = late;
}

void exercise_cancellation(void) {
    load();
    struct lateness seen = {INT64_MAX, INT64_MAX};
    for (int attempt = 0; attempt < ATTEMPTS && seen.second > allowed; attempt++) {
        struct instance instance;
        begin_source(&instance, new_host());
        if (!wait_for_item(&instance, 8 * SECOND)) end_with(NOT_OPENED, "The source yields no picture or packet.");
        release_item(&instance.item.value);
        struct canceller canceller = {.host = instance.host, .delay = (10 + 30 * attempt) * MILLISECOND};
        pthread_t thread = start_thread(run_canceller, &canceller);
        int is_over = 0, has_ended = 0;
        while (!is_over && !has_ended) {
            /* More than the limit of a slow call, and less than that of a hung one. */
            inlet_result result = next_item(&instance, now() + 2 * SECOND);
            int64_t returned = instance.begin + instance.duration - instance.excuse;
            int64_t time = atomic_load(&canceller.time);
            if (result == INLET_OK) release_item(&instance.item.value);
            is_over = time > 0;
            if (is_over) note_lateness(&seen, returned - time);
            /* One failure may be the device's fault. */
            if (!is_over && result < 0)
                end_with(LATE, "next failed with %d while nothing was wrong here: %.300s", result,
                    instance.error.value.message);
            has_ended = !is_over && result == INLET_END;
        }
        pthread_join(thread, NULL);
        /* A stream that ends before the cancellation delays nothing. */
        if (has_ended) note_lateness(&seen, 0);
        end_source(&instance);
    }
    if (seen.second > allowed)
        end_with(LATE, "next returned %lld ms after a cancellation in the second best of %d attempts; 100 ms are "
                       "allowed. Poll host->wake_fd together with the device.",
            (long long)(seen.second / MILLISECOND), ATTEMPTS);
    int64_t best = INT64_MAX;
    for (int attempt = 0; attempt < ATTEMPTS && best > allowed; attempt++) {
        struct instance instance;
        if (create_source(&instance, new_host()) != INLET_OK) break;
        cancel(instance.host);
        open_source(&instance, now() + 10 * SECOND);
        best = instance.duration - instance.excuse;
        end_source(&instance);
    }
    if (best > allowed && best != INT64_MAX)
        end_with(LATE, "open took %lld ms after a cancellation in the best of %d attempts; 100 ms are allowed. Check "
                       "is_cancelled, and poll host->wake_fd.",
            (long long)(best / MILLISECOND), ATTEMPTS);
}

void exercise_deadline(void) {
    load();
    struct instance instance;
    begin_source(&instance, new_host());
    if (!wait_for_item(&instance, 8 * SECOND)) end_with(NOT_OPENED, "The source yields no picture or packet.");
    release_item(&instance.item.value);
    static const int64_t waits[] = {30 * MILLISECOND, 5 * MILLISECOND, 0, -SECOND};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        int64_t best = INT64_MAX;
        for (int attempt = 0; attempt < ATTEMPTS && best > allowed; attempt++) {
            int64_t begin = now(), deadline = begin + waits[i];
            inlet_result result = next_item(&instance, deadline);
            int64_t returned = instance.begin + instance.duration - instance.excuse;
            int64_t overrun = returned - (waits[i] > 0 ? deadline : begin);
            if (result == INLET_OK) release_item(&instance.item.value);
            if (overrun < best) best = overrun;
            if (result == INLET_END) return end_source(&instance);
            if (result < 0)
                FAIL("next returned %d at its deadline: %.200s. Return INLET_AGAIN if there is no error.", result,
                    instance.error.value.message);
        }
        if (best > allowed)
            end_with(LATE, "next returned %lld ms after its deadline in the best of %d attempts. Wait no longer than "
                "the deadline, and return INLET_AGAIN.",
                (long long)(best / MILLISECOND), ATTEMPTS);
    }
    end_source(&instance);
}

void exercise_pause(void) {
    load();
    if (!source_table.pause || !source_table.resume)
        end_with(NOT_APPLICABLE, "The source has no pause and resume. Inlet closes and opens it instead.");
    struct instance instance;
    begin_source(&instance, new_host());
    struct order order = {0};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            if (!wait_for_item(&instance, 8 * SECOND)) {
                if (instance.result == INLET_END && order.count) return end_source(&instance);
                end_with(LATE, "next yielded nothing within 8 s%s.", round ? " after pause and resume" : "");
            }
            check_order(&order, &instance.stream.value, &instance.item.value);
            release_item(&instance.item.value);
        }
        prepare(&instance.error, sizeof instance.error.value);
        enter("pause", 5 * SECOND);
        inlet_result result = source_table.pause(instance.source, &instance.error.value);
        leave();
        check_result(result, 0, &instance.error, "pause");
        if (result == INLET_ERROR_UNSUPPORTED)
            end_with(NOT_APPLICABLE, "The source cannot pause. Inlet closes and opens it instead.");
        if (result != INLET_OK) FAIL("pause failed with %d: %.200s", result, instance.error.value.message);
        sleep_for(50 * MILLISECOND);
        prepare(&instance.error, sizeof instance.error.value);
        enter("resume", 10 * SECOND);
        result = source_table.resume(instance.source, &instance.error.value);
        leave();
        check_result(result, 0, &instance.error, "resume");
        if (result != INLET_OK) FAIL("resume failed with %d: %.200s", result, instance.error.value.message);
    }
    /* A source may be closed while it is paused. */
    prepare(&instance.error, sizeof instance.error.value);
    enter("pause", 5 * SECOND);
    source_table.pause(instance.source, &instance.error.value);
    leave();
    end_source(&instance);
}
