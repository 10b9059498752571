/// The SplitMix64 generator: 64 bits from a counter and two multiplications.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. Its state is a counter, so the
/// stream of any frame starts without those before it being run.
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The stream of one frame of one seed.
    init(seed: UInt64, frame: UInt64) {
        var seeds = SplitMix64(seed: seed)
        var frames = SplitMix64(seed: seeds.next() ^ frame)
        state = frames.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
