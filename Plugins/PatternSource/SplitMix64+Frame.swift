import InletCore

extension SplitMix64 {
    /// The stream of one frame of one seed. Its state is a counter, so the stream of any frame starts without those
    /// before it being run.
    init(seed: UInt64, frame: UInt64) {
        var seeds = SplitMix64(seed: seed)
        var frames = SplitMix64(seed: seeds.next() ^ frame)
        self.init(seed: frames.next())
    }
}
