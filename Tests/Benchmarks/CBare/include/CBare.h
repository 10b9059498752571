#pragma once

#include <stddef.h>
#include <stdint.h>

/// Threads that only sleep, each to the times of `rate` frames a second, for `seconds`. Returns when all have ended.
void bare_sleepers(int threads, int seconds, int rate);

/// Hands `frames` times from one thread to another by a mutex and a condition variable, one every `interval`
/// nanoseconds of CLOCK_MONOTONIC. Writes into `nanoseconds` how long each took from just before the lock to just after
/// it on the other side; frames that were overtaken by the next are left out. Returns how many there are.
int bare_handoff(int frames, long long interval, long long *nanoseconds);

/// Bytes of the heap that someone holds: mallinfo2().uordblks.
long long bare_heap_bytes(void);

/// How many threads of this process have names that begin so.
int bare_threads_named(const char *prefix);

/// libx264 by libavcodec alone, as EncoderSettings' realtime preset has it. NULL where it is not there.
struct bare_encoder *bare_encoder_open(int width, int height, int rate, int key_interval);
/// Encodes a picture. Returns the bytes of the packets that came out.
int bare_encode(struct bare_encoder *encoder, const unsigned char *planes[3], const int strides[3], long long pts);
void bare_encoder_close(struct bare_encoder *encoder);

/// A native picture with planes of its own, filled with what a decoder might give.
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

/// Memory for a picture.
struct bare_i420 bare_i420_make(int width, int height);
void bare_i420_free(struct bare_i420 picture);

/// NULL for a name that libavutil does not know.
struct bare_picture *bare_picture_make(const char *format, int width, int height);
void bare_picture_free(struct bare_picture *picture);
size_t bare_picture_bytes(const struct bare_picture *picture);
/// A plane's memory, with room behind it for what libswscale reads ahead, and the bytes from row to row.
const void *bare_plane(const struct bare_picture *picture, int plane);
size_t bare_plane_bytes(const struct bare_picture *picture, int plane);
int bare_plane_stride(const struct bare_picture *picture, int plane);
/// Copies all planes, one after another.
void bare_copy(const struct bare_picture *picture, void *target);
/// Drives everything else out of the processor's caches.
void bare_evict(void);

/// The pixel formats that libavutil knows, but for those of hardware, by numbers from 0; NULL after the last.
const char *bare_format_name(int index);

/// By libswscale, with the flags of inlet; NULL where it cannot read the format.
struct SwsContext *bare_sws_make(const struct bare_picture *picture);
void bare_sws_free(struct SwsContext *context);
void bare_sws_convert(struct SwsContext *context, const struct bare_picture *picture, struct bare_i420 *target);

/// By libyuv's own function for the format; -1 where it has none. Of more than eight bits it drops the lower ones.
int bare_yuv_convert(const struct bare_picture *picture, struct bare_i420 *target);
