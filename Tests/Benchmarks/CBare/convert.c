#include "CBare.h"

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <libyuv.h>
#include <stdlib.h>
#include <string.h>

// The number of bytes that swscale reads past the end of a plane.
enum { READ_AHEAD = 64 };

struct bare_picture *bare_picture_make(const char *name, int width, int height) {
    enum AVPixelFormat format = av_get_pix_fmt(name);
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    struct bare_picture *picture = calloc(1, sizeof *picture);
    if (!descriptor || !picture) return NULL;
    *picture = (struct bare_picture){.format = format, .width = width, .height = height};
    int has_palette = !!(descriptor->flags & AV_PIX_FMT_FLAG_PAL);
    picture->planes = has_palette ? 2 : av_pix_fmt_count_planes(format);
    for (int plane = 0; plane < picture->planes; plane++) {
        int is_chroma = plane == 1 || plane == 2;
        int rows = is_chroma ? AV_CEIL_RSHIFT(height, descriptor->log2_chroma_h) : height;
        picture->strides[plane] = (av_image_get_linesize(format, width, plane) + 63) & ~63;
        picture->sizes[plane] = (size_t)picture->strides[plane] * rows;
        if (has_palette && plane == 1) picture->strides[plane] = 4, picture->sizes[plane] = 256 * 4;
        picture->data[plane] = aligned_alloc(64, (picture->sizes[plane] + READ_AHEAD + 63) & ~63);
        uint32_t noise = 1;
        // A gradient with some noise, like a decoder's output, with all samples within their depth.
        int wide = descriptor->comp[0].depth > 8 && !(descriptor->flags & AV_PIX_FMT_FLAG_BE);
        int mask = ((1 << descriptor->comp[0].depth) - 1) << descriptor->comp[0].shift;
        for (size_t index = 0; index < picture->sizes[plane]; index++) {
            noise = noise * 1664525 + 1013904223;
            picture->data[plane][index] = (uint8_t)((index >> 4) + (noise >> 29));
            if (wide && descriptor->comp[0].step <= 4) picture->data[plane][index] &= mask >> (index % 2 * 8);
        }
    }
    return picture;
}

struct bare_i420 bare_i420_make(int width, int height) {
    int chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    struct bare_i420 picture = {.y_stride = (width + 63) & ~63, .chroma_stride = (chroma_width + 63) & ~63};
    picture.y = aligned_alloc(64, (size_t)picture.y_stride * height);
    picture.u = aligned_alloc(64, (size_t)picture.chroma_stride * chroma_height);
    picture.v = aligned_alloc(64, (size_t)picture.chroma_stride * chroma_height);
    return picture;
}

void bare_i420_free(struct bare_i420 picture) {
    free(picture.y);
    free(picture.u);
    free(picture.v);
}

void bare_picture_free(struct bare_picture *picture) {
    for (int plane = 0; plane < picture->planes; plane++) free(picture->data[plane]);
    free(picture);
}

size_t bare_picture_bytes(const struct bare_picture *picture) {
    size_t bytes = 0;
    for (int plane = 0; plane < picture->planes; plane++) bytes += picture->sizes[plane];
    return bytes;
}

const void *bare_plane(const struct bare_picture *picture, int plane) { return picture->data[plane]; }
size_t bare_plane_bytes(const struct bare_picture *picture, int plane) { return picture->sizes[plane] + READ_AHEAD; }
int bare_plane_stride(const struct bare_picture *picture, int plane) { return picture->strides[plane]; }

void bare_evict(void) {
    enum { BYTES = 96 << 20, LINE = 64 };
    static volatile uint8_t *memory;
    if (!memory) memory = calloc(1, BYTES);
    for (size_t index = 0; memory && index < BYTES; index += LINE) memory[index]++;
}

const char *bare_format_name(int index) {
    const AVPixFmtDescriptor *descriptor = NULL;
    while ((descriptor = av_pix_fmt_desc_next(descriptor)))
        if (!(descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) && index-- == 0) return descriptor->name;
    return NULL;
}

void bare_copy(const struct bare_picture *picture, void *to) {
    uint8_t *target = to;
    for (int plane = 0; plane < picture->planes; plane++) {
        memcpy(target, picture->data[plane], picture->sizes[plane]);
        target += picture->sizes[plane];
    }
}

struct SwsContext *bare_sws_make(const struct bare_picture *picture) {
    return sws_getContext(picture->width, picture->height, picture->format, picture->width, picture->height,
                          AV_PIX_FMT_YUV420P, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
}

void bare_sws_free(struct SwsContext *context) { sws_freeContext(context); }

void bare_sws_convert(struct SwsContext *context, const struct bare_picture *picture, struct bare_i420 *target) {
    const uint8_t *data[4] = {picture->data[0], picture->data[1], picture->data[2], picture->data[3]};
    uint8_t *planes[4] = {target->y, target->u, target->v};
    int strides[4] = {target->y_stride, target->chroma_stride, target->chroma_stride};
    sws_scale(context, data, picture->strides, 0, picture->height, planes, strides);
}

#define TARGET t->y, t->y_stride, t->u, t->chroma_stride, t->v, t->chroma_stride
#define PLANE(n) s->data[n], s->strides[n]
#define WIDE(n) (const uint16_t *)s->data[n], s->strides[n] / 2

static void scale_planes(const struct bare_picture *s, struct bare_i420 *t, int chroma_width, int chroma_height) {
    CopyPlane(PLANE(0), t->y, t->y_stride, s->width, s->height);
    ScalePlane(PLANE(1), chroma_width, chroma_height, t->u, t->chroma_stride, s->width / 2, s->height / 2, kFilterBox);
    ScalePlane(PLANE(2), chroma_width, chroma_height, t->v, t->chroma_stride, s->width / 2, s->height / 2, kFilterBox);
}

int bare_yuv_convert(const struct bare_picture *s, struct bare_i420 *t) {
    int w = s->width, h = s->height;
    switch (s->format) {
    case AV_PIX_FMT_YUV420P: case AV_PIX_FMT_YUVJ420P: case AV_PIX_FMT_YUVA420P:
        return I420Copy(PLANE(0), PLANE(1), PLANE(2), TARGET, w, h);
    case AV_PIX_FMT_YUV422P: case AV_PIX_FMT_YUVJ422P: case AV_PIX_FMT_YUVA422P:
        return I422ToI420(PLANE(0), PLANE(1), PLANE(2), TARGET, w, h);
    case AV_PIX_FMT_YUV444P: case AV_PIX_FMT_YUVJ444P: case AV_PIX_FMT_YUVA444P:
        return I444ToI420(PLANE(0), PLANE(1), PLANE(2), TARGET, w, h);
    case AV_PIX_FMT_YUV440P: case AV_PIX_FMT_YUVJ440P: return scale_planes(s, t, w, h / 2), 0;
    case AV_PIX_FMT_YUV411P: case AV_PIX_FMT_YUVJ411P: return scale_planes(s, t, w / 4, h), 0;
    case AV_PIX_FMT_YUV410P: return scale_planes(s, t, w / 4, h / 4), 0;
    case AV_PIX_FMT_NV12: return NV12ToI420(PLANE(0), PLANE(1), TARGET, w, h);
    case AV_PIX_FMT_NV21: return NV21ToI420(PLANE(0), PLANE(1), TARGET, w, h);
    case AV_PIX_FMT_YUYV422: return YUY2ToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_UYVY422: return UYVYToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_YVYU422:
        return YUY2ToI420(PLANE(0), t->y, t->y_stride, t->v, t->chroma_stride, t->u, t->chroma_stride, w, h);
    case AV_PIX_FMT_GRAY8: return I400ToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_BGRA: case AV_PIX_FMT_BGR0: return ARGBToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_RGBA: case AV_PIX_FMT_RGB0: return ABGRToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_ARGB: case AV_PIX_FMT_0RGB: return BGRAToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_ABGR: case AV_PIX_FMT_0BGR: return RGBAToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_RGB24: return RAWToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_BGR24: return RGB24ToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_RGB565LE: return RGB565ToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_RGB555LE: return ARGB1555ToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_RGB444LE: return ARGB4444ToI420(PLANE(0), TARGET, w, h);
    case AV_PIX_FMT_YUV420P10LE: return I010ToI420(WIDE(0), WIDE(1), WIDE(2), TARGET, w, h);
    case AV_PIX_FMT_YUV422P10LE: return I210ToI420(WIDE(0), WIDE(1), WIDE(2), TARGET, w, h);
    case AV_PIX_FMT_YUV444P10LE: return I410ToI420(WIDE(0), WIDE(1), WIDE(2), TARGET, w, h);
    case AV_PIX_FMT_YUV420P12LE: return I012ToI420(WIDE(0), WIDE(1), WIDE(2), TARGET, w, h);
    default: return -1;
    }
}
