#pragma once

#include <stddef.h>
#include <stdint.h>

/// The layout of a plane's samples in memory: 16 bits each, in this machine's byte order. The lowest `drop` bits are
/// unused; the next `depth` bits are the value. `depth` is from 9 to 12.
struct inlet_deep_samples {
    int drop, depth;
};

/// A plane of deep samples, and the plane of 8-bit samples to make of it.
struct inlet_deep_plane {
    const uint8_t *source;
    /// In bytes. May be negative and unaligned.
    ptrdiff_t source_stride;
    /// The size of the source, in samples.
    int width, height;
    uint8_t *target;
    ptrdiff_t target_stride;
};

/// Reduces samples to 8 bits with an ordered dither, so that the mean of a few pixels is that of the source.
///
/// If columns or rows are halved, each sample is the mean of those that it replaces; the last one of an odd number is
/// kept. The target then has (width + 1) / 2 columns, or (height + 1) / 2 rows.
///
/// - is_scaled: whether the highest value becomes 255, as in full-range luma, instead of 255 and a fraction.
void inlet_reduce(struct inlet_deep_plane plane, struct inlet_deep_samples samples, int halves_columns, int halves_rows,
                  int is_scaled);

/// The same for two interleaved components, as in P010: the first goes to `plane.target`, the second to
/// `second_target`, which has the same stride. `plane.width` counts pairs.
void inlet_reduce_pairs(struct inlet_deep_plane plane, uint8_t *second_target, struct inlet_deep_samples samples,
                        int halves_rows);
