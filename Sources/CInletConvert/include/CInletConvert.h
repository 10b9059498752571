#pragma once

#include <stddef.h>
#include <stdint.h>

/// How the samples of a plane lie in memory: 16 bits each, in this machine's byte order, of which the lowest `drop` are
/// not used and the next `depth` are. `depth` is from 9 to 12.
struct inlet_deep_samples {
    int drop, depth;
};

/// One plane of samples to be made one of 8 bits.
struct inlet_deep_plane {
    const uint8_t *source;
    /// In bytes, of any sign and alignment.
    ptrdiff_t source_stride;
    /// In samples, of the source.
    int width, height;
    uint8_t *target;
    ptrdiff_t target_stride;
};

/// Makes 8 bits of more, with an ordered dither, so that the mean over a few pixels is that of the source.
///
/// Where rows or columns are halved, each sample is the mean of those that it stands for; the last of an odd number
/// stands for itself. The target has (width + 1) / 2 columns, or (height + 1) / 2 rows.
///
/// - is_scaled: whether the highest value becomes 255, as in luma of full range, and not 255 and a fraction.
void inlet_reduce(struct inlet_deep_plane plane, struct inlet_deep_samples samples, int halves_columns, int halves_rows,
                  int is_scaled);

/// The same for two components that take turns, as in P010: the first goes to `plane.target`, the second to
/// `second_target`, which has the same stride. `plane.width` counts pairs.
void inlet_reduce_pairs(struct inlet_deep_plane plane, uint8_t *second_target, struct inlet_deep_samples samples,
                        int halves_rows);
