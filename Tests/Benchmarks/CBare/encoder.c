#include "CBare.h"

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <stdlib.h>

struct bare_encoder {
    AVCodecContext *context;
    AVFrame *frame;
    AVPacket *packet;
};

struct bare_encoder *bare_encoder_open(int width, int height, int rate, int key_interval) {
    const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
    struct bare_encoder *encoder = calloc(1, sizeof *encoder);
    if (!codec || !encoder || !(encoder->context = avcodec_alloc_context3(codec))) return NULL;
    AVCodecContext *context = encoder->context;
    context->width = width;
    context->height = height;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    context->time_base = (AVRational){1, 90000};
    context->framerate = (AVRational){rate, 1};
    context->gop_size = key_interval;
    context->thread_type = FF_THREAD_SLICE;
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    av_opt_set(context->priv_data, "preset", "superfast", 0);
    av_opt_set(context->priv_data, "tune", "zerolatency", 0);
    av_opt_set(context->priv_data, "crf", "23", 0);
    av_opt_set(context->priv_data, "forced-idr", "1", 0);
    if (avcodec_open2(context, codec, NULL) < 0) return NULL;
    encoder->frame = av_frame_alloc();
    encoder->packet = av_packet_alloc();
    return encoder->frame && encoder->packet ? encoder : NULL;
}

static void lent(void *owner, uint8_t *data) {
    (void)owner;
    (void)data;
}

int bare_encode(struct bare_encoder *encoder, const unsigned char *planes[3], const int strides[3], long long pts) {
    AVFrame *frame = encoder->frame;
    frame->format = AV_PIX_FMT_YUV420P;
    frame->width = encoder->context->width;
    frame->height = encoder->context->height;
    frame->pts = pts;
    for (int plane = 0; plane < 3; plane++) {
        frame->data[plane] = (uint8_t *)planes[plane];
        frame->linesize[plane] = strides[plane];
    }
    // Without an owner libavcodec would copy the picture.
    frame->buf[0] = av_buffer_create(
        frame->data[0], (size_t)strides[0] * (size_t)frame->height, lent, NULL, AV_BUFFER_FLAG_READONLY);
    int status = avcodec_send_frame(encoder->context, frame), bytes = 0;
    av_frame_unref(frame);
    while (status >= 0 && (status = avcodec_receive_packet(encoder->context, encoder->packet)) >= 0) {
        bytes += encoder->packet->size;
        av_packet_unref(encoder->packet);
    }
    return bytes;
}

void bare_encoder_close(struct bare_encoder *encoder) {
    av_packet_free(&encoder->packet);
    av_frame_free(&encoder->frame);
    avcodec_free_context(&encoder->context);
    free(encoder);
}
