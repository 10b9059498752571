#pragma once

#include <stddef.h>
#include <stdint.h>

/// Starts threads that only sleep, each until the times of `rate` frames per second, for `seconds`. Returns when all
/// have ended.
void bare_sleepers(int threads, int seconds, int rate);

/// Passes `frames` timestamps from one thread to another with a mutex and a condition variable, one every `interval`
/// nanoseconds of CLOCK_MONOTONIC. Writes each delay into `nanoseconds`, from just before the lock to just after it on
/// the other side. Skips frames that were overtaken by the next one. Returns the number of delays.
int bare_handoff(int frames, long long interval, long long *nanoseconds);

/// Returns the allocated bytes of the heap: mallinfo2().uordblks.
long long bare_heap_bytes(void);

/// Returns the number of this process's threads whose names have this prefix.
int bare_threads_named(const char *prefix);

/// Opens libx264 with plain libavcodec and the settings of EncoderSettings' realtime preset. NULL if it isn't
/// available.
struct bare_encoder *bare_encoder_open(int width, int height, int rate, int key_interval);
/// Encodes a picture. Returns the number of bytes in the output packets.
int bare_encode(struct bare_encoder *encoder, const unsigned char *planes[3], const int strides[3], long long pts);
void bare_encoder_close(struct bare_encoder *encoder);

/// A native picture with separate planes, filled with data like a decoder's output.
struct bare_picture {
    int format, width, height, planes;
    uint8_t *data[4];
    int strides[4];
    size_t sizes[4];
};

/// An I420 picture to convert into.
struct bare_i420 {
    uint8_t *y, *u, *v;
    int y_stride, chroma_stride;
};

/// Allocates memory for a picture.
struct bare_i420 bare_i420_make(int width, int height);
void bare_i420_free(struct bare_i420 picture);

/// NULL for a name unknown to libavutil.
struct bare_picture *bare_picture_make(const char *format, int width, int height);
void bare_picture_free(struct bare_picture *picture);
size_t bare_picture_bytes(const struct bare_picture *picture);
/// A plane's memory, with additional space after it for libswscale's reads past the end, and the bytes from row to row.
const void *bare_plane(const struct bare_picture *picture, int plane);
size_t bare_plane_bytes(const struct bare_picture *picture, int plane);
int bare_plane_stride(const struct bare_picture *picture, int plane);
/// Copies all planes in sequence.
void bare_copy(const struct bare_picture *picture, void *target);
/// Evicts all other data from the processor's caches.
void bare_evict(void);

/// Returns the libavutil pixel formats other than hardware formats, by index from 0; NULL after the last.
const char *bare_format_name(int index);

/// Converts with libswscale and inlet's flags; NULL if it cannot read the format.
struct SwsContext *bare_sws_make(const struct bare_picture *picture);
void bare_sws_free(struct SwsContext *context);
void bare_sws_convert(struct SwsContext *context, const struct bare_picture *picture, struct bare_i420 *target);

/// Converts with libyuv's function for the format; -1 if it doesn't have one. If samples have more than eight bits, it
/// drops the lower bits.
int bare_yuv_convert(const struct bare_picture *picture, struct bare_i420 *target);
