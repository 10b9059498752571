import InletCore

extension SplitMix64 {
    /// Creates the stream for one frame of one seed. Its state is a counter, so any frame's stream starts without
    /// running the previous ones.
    init(seed: UInt64, frame: UInt64) {
        var seeds = SplitMix64(seed: seed)
        var frames = SplitMix64(seed: seeds.next() ^ frame)
        self.init(seed: frames.next())
    }
}
