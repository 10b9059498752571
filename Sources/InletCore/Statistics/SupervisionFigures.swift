/// What it took to keep a source going.
public struct SupervisionFigures: Sendable {
    /// How often the source was opened, the first time included.
    public var openings: UInt64 = 0
    /// How often it failed, by the error's code.
    public var failures: [InletError.Code: UInt64] = [:]
    /// What it failed with last.
    public var lastFailure: InletError?
    /// How often frames stopped coming from an open source.
    public var stalls: UInt64 = 0
    /// How often the source said that it lost its device for a while.
    public var interruptions: UInt64 = 0
    /// How often frames came again after any of these.
    public var recoveries: UInt64 = 0
    /// How long there were no frames in all, from the first frame on; outages that are over.
    public var outage = Duration.zero
    /// Placeholders shown meanwhile.
    public var placeholders: UInt64 = 0
    /// Sources that ignored their cancellation and were given up.
    public var abandonments: UInt64 = 0
    /// Threads of such sources that still run. Each holds what its source holds.
    public var abandonedThreads = 0

    public init() {}
}
