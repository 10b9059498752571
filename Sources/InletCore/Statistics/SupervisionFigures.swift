/// Figures about keeping a source running.
public struct SupervisionFigures: Sendable {
    /// How often the source was opened, the first time included.
    public var openings: UInt64 = 0
    /// How often the source failed, by the error's code.
    public var failures: [InletError.Code: UInt64] = [:]
    /// The error of the last failure.
    public var lastFailure: InletError?
    /// How often frames stopped arriving from an open source.
    public var stalls: UInt64 = 0
    /// How often the source reported that it had lost its device for a while.
    public var interruptions: UInt64 = 0
    /// How often frames arrived again after any of these.
    public var recoveries: UInt64 = 0
    /// The total time without frames, from the first frame on; only outages that are over.
    public var outage = Duration.zero
    /// Placeholders shown during outages.
    public var placeholders: UInt64 = 0
    /// How often the source went over to a new version of its plug-in.
    public var updates: UInt64 = 0
    /// Sources that ignored their cancellation and were given up.
    public var abandonments: UInt64 = 0
    /// Threads of such sources that still run. Each holds what its source holds.
    public var abandonedThreads = 0

    public init() {}
}
