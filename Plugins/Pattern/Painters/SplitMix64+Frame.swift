import InletCore

extension SplitMix64 {
    /// Creates the generator for one frame and seed. Its state is a counter, so a frame's numbers can be generated
    /// without those of previous frames.
    init(seed: UInt64, frame: UInt64) {
        var seeds = SplitMix64(seed: seed)
        var frames = SplitMix64(seed: seeds.next() ^ frame)
        self.init(seed: frames.next())
    }
}
