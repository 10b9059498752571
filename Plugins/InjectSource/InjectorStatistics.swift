public import InletCore

/// The figures of an injector since it was made.
///
/// What was pushed was delivered, or dropped for a reason, or is still queued: `pushed` is the sum of the three.
public struct InjectorStatistics: Sendable, Hashable {
    /// Pictures and packets that were pushed, without those that were refused with an error.
    public var pushed: UInt64 = 0
    /// Those that a source has taken.
    public var delivered: UInt64 = 0
    /// Those of the delivered that the pushing thread has passed on to the sinks itself, as the source waited.
    public var handedOver: UInt64 = 0
    /// Those that nobody got, by reason.
    public var dropped: [DropReason: UInt64] = [:]
    /// Those that wait for a source.
    public var queued = 0
    /// The bytes of those that wait.
    public var queuedBytes = 0
    /// Pushes that threw an error.
    public var refused: UInt64 = 0
    /// Pictures that were copied, as they were pushed without an owner. Those that are wrapped are not counted.
    public var copied: UInt64 = 0
    /// Pictures that were yielded once more.
    public var repeated: UInt64 = 0
    /// How many sources have read the injector: one more at each retry.
    public var sources = 0

    init() {}
}

/// What became of a push.
public enum InjectorOutcome: Sendable, Hashable {
    /// The source gets it, unless it gives way to a newer one.
    case queued
    /// Nobody gets it. It is counted.
    case dropped(DropReason)
}
