#include "CInletConvert.h"

#include <string.h>

// The compiler's vector types, which become SSE2, AVX or NEON. Even without optimization they are five times faster
// than single samples.
typedef uint16_t samples8 __attribute__((vector_size(16)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));

#define INLINE static inline __attribute__((always_inline))

INLINE samples8 load(const uint8_t *source) {
    samples8 result;
    memcpy(&result, source, sizeof result);
    return result;
}

INLINE uint16_t load_one(const uint8_t *source) {
    uint16_t result;
    memcpy(&result, source, sizeof result);
    return result;
}

/// The thresholds of one row of the 8x8 Bayer matrix, from 0 to (1 << bits) - 1; `bits` is at most 6.
static void thresholds(int row, int bits, uint16_t result[8]) {
    for (int column = 0; column < 8; column++) {
        int value = 0;
        for (int bit = 0; bit < 3; bit++)
            value = value << 2 | ((row ^ column) >> bit & 1) << 1 | (row >> bit & 1);
        result[column] = (uint16_t)(value >> (6 - bits));
    }
}

/// Reduces sums to 8 bits. With the threshold, a sum is at most 256 << shift, which the subtraction limits to 255.
INLINE samples8 reduce(samples8 sums, samples8 threshold, int shift, int is_scaled) {
    sums += threshold;
    if (is_scaled) return (sums - (sums >> 8)) >> shift;
    sums >>= shift;
    return sums - (sums >> 8);
}

INLINE uint8_t reduce_one(unsigned sum, unsigned threshold, int shift, int is_scaled) {
    sum += threshold;
    if (is_scaled) return (uint8_t)((sum - (sum >> 8)) >> shift);
    sum >>= shift;
    return (uint8_t)(sum - (sum >> 8));
}

INLINE void store(samples8 values, uint8_t *target) {
    bytes8 bytes = __builtin_convertvector(values, bytes8);
    memcpy(target, &bytes, sizeof bytes);
}

/// The sums of neighbouring samples: 8 sums of 16 samples in a row.
INLINE samples8 pair_sums(samples8 low, samples8 high) {
    samples8 even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    return even + __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}

/// Makes a row of the target from one or two rows of the source.
INLINE void reduce_row(const uint8_t *first, const uint8_t *second, uint8_t *target, int width,
                       const uint16_t dither[8], struct inlet_deep_samples samples, int shift,
                       const int halves_columns, const int halves_rows, const int is_scaled) {
    samples8 threshold;
    memcpy(&threshold, dither, sizeof threshold);
    int count = halves_columns ? width / 2 : width, step = halves_columns ? 4 : 2, column = 0;
    for (; column + 8 <= count; column += 8) {
        const uint8_t *above = first + (ptrdiff_t)column * step, *below = second + (ptrdiff_t)column * step;
        samples8 sums = load(above) >> samples.drop;
        if (halves_rows) sums += load(below) >> samples.drop;
        if (halves_columns) {
            samples8 next = load(above + 16) >> samples.drop;
            if (halves_rows) next += load(below + 16) >> samples.drop;
            sums = pair_sums(sums, next);
        }
        store(reduce(sums, threshold, shift, is_scaled), target + column);
    }
    for (; column < (halves_columns ? (width + 1) / 2 : width); column++) {
        const uint8_t *above = first + (ptrdiff_t)column * step, *below = second + (ptrdiff_t)column * step;
        int next = halves_columns && 2 * column + 1 < width ? 2 : 0;
        unsigned sum = load_one(above) >> samples.drop;
        if (halves_rows) sum += load_one(below) >> samples.drop;
        if (halves_columns) sum += load_one(above + next) >> samples.drop;
        if (halves_columns && halves_rows) sum += load_one(below + next) >> samples.drop;
        target[column] = reduce_one(sum, dither[column & 7], shift, is_scaled);
    }
}

INLINE void reduce_plane(struct inlet_deep_plane plane, struct inlet_deep_samples samples, const int halves_columns,
                         const int halves_rows, const int is_scaled) {
    int shift = samples.depth - 8 + halves_columns + halves_rows;
    int rows = halves_rows ? (plane.height + 1) / 2 : plane.height;
    for (int row = 0; row < rows; row++) {
        int above = halves_rows ? 2 * row : row;
        int below = halves_rows && above + 1 < plane.height ? above + 1 : above;
        uint16_t dither[8];
        thresholds(row, shift, dither);
        reduce_row(plane.source + above * plane.source_stride, plane.source + below * plane.source_stride,
                   plane.target + row * plane.target_stride, plane.width, dither, samples, shift, halves_columns,
                   halves_rows, is_scaled);
    }
}

void inlet_reduce(struct inlet_deep_plane plane, struct inlet_deep_samples samples, int halves_columns, int halves_rows,
                  int is_scaled) {
    // Constant arguments, so that the compiler makes a separate loop for each case.
    if (halves_columns && halves_rows) reduce_plane(plane, samples, 1, 1, 0);
    else if (halves_columns) reduce_plane(plane, samples, 1, 0, 0);
    else if (halves_rows) reduce_plane(plane, samples, 0, 1, 0);
    else if (is_scaled) reduce_plane(plane, samples, 0, 0, 1);
    else reduce_plane(plane, samples, 0, 0, 0);
}

INLINE void reduce_row_of_pairs(const uint8_t *first, const uint8_t *second, uint8_t *targets[2], int width,
                                const uint16_t dither[8], struct inlet_deep_samples samples, int shift,
                                const int halves_rows) {
    samples8 threshold;
    memcpy(&threshold, dither, sizeof threshold);
    int column = 0;
    for (; column + 8 <= width; column += 8) {
        const uint8_t *above = first + (ptrdiff_t)column * 4, *below = second + (ptrdiff_t)column * 4;
        samples8 low = load(above) >> samples.drop, high = load(above + 16) >> samples.drop;
        if (halves_rows) {
            low += load(below) >> samples.drop;
            high += load(below + 16) >> samples.drop;
        }
        samples8 even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
        samples8 odd = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
        store(reduce(even, threshold, shift, 0), targets[0] + column);
        store(reduce(odd, threshold, shift, 0), targets[1] + column);
    }
    for (; column < width; column++)
        for (int part = 0; part < 2; part++) {
            ptrdiff_t offset = (ptrdiff_t)column * 4 + part * 2;
            unsigned sum = load_one(first + offset) >> samples.drop;
            if (halves_rows) sum += load_one(second + offset) >> samples.drop;
            targets[part][column] = reduce_one(sum, dither[column & 7], shift, 0);
        }
}

INLINE void reduce_plane_of_pairs(struct inlet_deep_plane plane, uint8_t *second_target,
                                  struct inlet_deep_samples samples, const int halves_rows) {
    int shift = samples.depth - 8 + halves_rows;
    int rows = halves_rows ? (plane.height + 1) / 2 : plane.height;
    for (int row = 0; row < rows; row++) {
        int above = halves_rows ? 2 * row : row;
        int below = halves_rows && above + 1 < plane.height ? above + 1 : above;
        uint16_t dither[8];
        thresholds(row, shift, dither);
        uint8_t *targets[2] = {plane.target + row * plane.target_stride, second_target + row * plane.target_stride};
        reduce_row_of_pairs(plane.source + above * plane.source_stride, plane.source + below * plane.source_stride,
                            targets, plane.width, dither, samples, shift, halves_rows);
    }
}

void inlet_reduce_pairs(struct inlet_deep_plane plane, uint8_t *second_target, struct inlet_deep_samples samples,
                        int halves_rows) {
    if (halves_rows) reduce_plane_of_pairs(plane, second_target, samples, 1);
    else reduce_plane_of_pairs(plane, second_target, samples, 0);
}
