import InletCore

/// Draws ``TestPattern/noise`` with ``SplitMix64``, eight bytes at a time.
struct NoisePainter: PatternPainter {
    let seed: UInt64

    func paint(_ draft: inout I420Draft, frame: UInt64, time: Int64) {
        var numbers = SplitMix64(seed: seed, frame: frame)
        for plane in I420Buffer.Plane.allCases {
            // 16 to 207 in luma and 32 to 223 in chroma: within limited range, with chroma centred on grey.
            let floor: UInt64 = plane == .y ? 0x1010_1010_1010_1010 : 0x2020_2020_2020_2020
            draft.fill(plane, with: &numbers) { random in
                // Each byte is seven random bits plus half of the eighth: 0 to 191, without a carry into the next
                // byte.
                (random & 0x7F7F_7F7F_7F7F_7F7F) &+ ((random >> 1) & 0x4040_4040_4040_4040) &+ floor
            }
        }
    }
}
