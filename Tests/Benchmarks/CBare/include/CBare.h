#pragma once

/// Threads that only sleep, each to the times of `rate` frames a second, for `seconds`. Returns when all have ended.
void bare_sleepers(int threads, int seconds, int rate);

/// Hands `frames` times from one thread to another by a mutex and a condition variable, one every `interval` nanoseconds of CLOCK_MONOTONIC.
/// Writes into `nanoseconds` how long each took from just before the lock to just after it on the other side; frames that were overtaken by the next
/// are left out. Returns how many there are.
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
