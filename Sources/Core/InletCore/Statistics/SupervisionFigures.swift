/// Figures about keeping a source running.
public struct SupervisionFigures: Sendable {
    /// The number of times the source was opened, including the first.
    public var openings: UInt64 = 0
    /// The number of failures of the source, by the error's code.
    public var failures: [InletError.Code: UInt64] = [:]
    /// The error of the last failure.
    public var lastFailure: InletError?
    /// The number of times frames stopped arriving from an open source.
    public var stalls: UInt64 = 0
    /// The number of times the source reported that it had lost its device for a while.
    public var interruptions: UInt64 = 0
    /// The number of times frames arrived again after any of these.
    public var recoveries: UInt64 = 0
    /// The total time without frames, from the first frame on; only outages that are over.
    public var outage = Duration.zero
    /// Placeholders shown during outages.
    public var placeholders: UInt64 = 0
    /// The number of times the source switched to a new version of its plug-in.
    public var updates: UInt64 = 0
    /// Sources that ignored their cancellation and were given up.
    public var abandonments: UInt64 = 0
    /// Threads of such sources that still run. Each holds what its source holds.
    public var abandonedThreads = 0

    public init() {}
}
