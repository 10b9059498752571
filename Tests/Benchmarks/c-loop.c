// The reference for Scripts/bench: the simplest C loop that decodes a file. It opens the file, decodes and frees every
// frame. With --i420 it also converts each frame to I420 with libyuv, into one buffer; without it, it touches no pixel.
//
//     c-loop FILE [--threads N] [--frames N] [--seconds N] [--i420]
//
// --seconds ends a live stream. Threads are libavcodec's; the default, 0, is the number of cores, with frame threads,
// as in inlet. Writes one JSON object: {"frames":N,"cpu_s":X,"wall_s":X,"peak_rss_kib":N}.

#include "CBare.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void check(int result, const char *operation) {
    if (result >= 0) return;
    fprintf(stderr, "c-loop: %s: %s\n", operation, av_err2str(result));
    exit(65);
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static void convert(const AVFrame *frame) {
    static struct bare_i420 target;
    struct bare_picture source = {.format = frame->format, .width = frame->width, .height = frame->height};
    for (int plane = 0; plane < 4; plane++) {
        source.data[plane] = frame->data[plane];
        source.strides[plane] = frame->linesize[plane];
    }
    if (!target.y) target = bare_i420_make(frame->width, frame->height);
    if (bare_yuv_convert(&source, &target)) {
        fprintf(stderr, "c-loop: libyuv converts no picture of format %d\n", frame->format);
        exit(65);
    }
}

int main(int count, char **arguments) {
    const char *path = NULL;
    long threads = 0, limit = 0, most = 0;
    int converts = 0;
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--threads") && i + 1 < count) threads = atol(arguments[++i]);
        else if (!strcmp(arguments[i], "--frames") && i + 1 < count) limit = atol(arguments[++i]);
        else if (!strcmp(arguments[i], "--seconds") && i + 1 < count) most = atol(arguments[++i]);
        else if (!strcmp(arguments[i], "--i420")) converts = 1;
        else path = arguments[i];
    }
    if (!path) {
        fprintf(stderr, "usage: c-loop FILE [--threads N] [--frames N] [--seconds N] [--i420]\n");
        return 64;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);

    AVFormatContext *format = NULL;
    check(avformat_open_input(&format, path, NULL, NULL), "avformat_open_input");
    check(avformat_find_stream_info(format, NULL), "avformat_find_stream_info");
    const AVCodec *codec = NULL;
    int stream = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    check(stream, "av_find_best_stream");
    for (unsigned i = 0; i < format->nb_streams; i++)
        if ((int)i != stream) format->streams[i]->discard = AVDISCARD_ALL;

    AVCodecContext *decoder = avcodec_alloc_context3(codec);
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    if (!decoder || !packet || !frame) check(AVERROR(ENOMEM), "allocating");
    check(avcodec_parameters_to_context(decoder, format->streams[stream]->codecpar), "avcodec_parameters_to_context");
    decoder->thread_count = (int)threads;
    check(avcodec_open2(decoder, codec, NULL), "avcodec_open2");

    long frames = 0;
    int result = 0;
    while (result != AVERROR_EOF && (!limit || frames < limit)) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        if (most && end.tv_sec - start.tv_sec >= most) break;
        result = av_read_frame(format, packet);
        if (result >= 0 && packet->stream_index != stream) {
            av_packet_unref(packet);
            continue;
        }
        // At the end of the file, a null packet makes the decoder return its remaining frames.
        check(avcodec_send_packet(decoder, result < 0 ? NULL : packet), "avcodec_send_packet");
        av_packet_unref(packet);
        while ((result = avcodec_receive_frame(decoder, frame)) >= 0) {
            if (converts) convert(frame);
            av_frame_unref(frame);
            if (++frames == limit) break;
        }
        if (result != AVERROR(EAGAIN) && result != AVERROR_EOF) check(result, "avcodec_receive_frame");
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&decoder);
    avformat_close_input(&format);

    clock_gettime(CLOCK_MONOTONIC, &end);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"frames\":%ld,\"cpu_s\":%.4f,\"wall_s\":%.4f,\"peak_rss_kib\":%ld}\n", frames,
           seconds(usage.ru_utime) + seconds(usage.ru_stime),
           (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9, usage.ru_maxrss);
    return 0;
}
