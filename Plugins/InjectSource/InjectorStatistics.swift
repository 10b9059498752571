public import InletCore

/// The statistics of an injector since it was made.
///
/// Each pushed item was delivered, or dropped for a reason, or is still queued: `pushed` is the sum of the three.
public struct InjectorStatistics: Sendable, Hashable {
    /// Pushed pictures and packets, without those that were refused with an error.
    public var pushed: UInt64 = 0
    /// Items that a source has taken.
    public var delivered: UInt64 = 0
    /// Delivered items that the pushing thread has passed on to the sinks itself, because the source waited.
    public var handedOver: UInt64 = 0
    /// Dropped items, by reason.
    public var dropped: [DropReason: UInt64] = [:]
    /// Items that wait for a source.
    public var queued = 0
    /// The bytes of waiting items.
    public var queuedBytes = 0
    /// Pushes that threw an error.
    public var refused: UInt64 = 0
    /// Pictures that were copied because they were pushed without an owner. Wrapped ones are not counted.
    public var copied: UInt64 = 0
    /// Pictures that were yielded once more.
    public var repeated: UInt64 = 0
    /// How many sources have read the injector: one more at each retry.
    public var sources = 0

    init() {}
}

/// The outcome of a push.
public enum InjectorOutcome: Sendable, Hashable {
    /// The source gets it, unless a newer one replaces it.
    case queued
    /// It was dropped and counted.
    case dropped(DropReason)
}
