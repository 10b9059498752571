public import InletCore

/// The statistics of an injector since it was created.
///
/// Each pushed item was delivered, was dropped for a reason, or is still queued: `pushed` is the sum of the three.
public struct InjectorStatistics: Sendable, Hashable {
    /// Pushed pictures and packets, except those refused with an error.
    public var pushed: UInt64 = 0
    /// Items that a source has taken.
    public var delivered: UInt64 = 0
    /// Delivered items that the pushing thread itself passed to the sinks, because the source was waiting.
    public var handedOver: UInt64 = 0
    /// Dropped items, by reason.
    public var dropped: [DropReason: UInt64] = [:]
    /// Items that are waiting for a source.
    public var queued = 0
    /// The bytes of the waiting items.
    public var queuedBytes = 0
    /// Pushes that threw an error.
    public var refused: UInt64 = 0
    /// Pictures that were copied because they were pushed without an owner. Pictures with an owner are not counted.
    public var copied: UInt64 = 0
    /// Pictures that were delivered again.
    public var repeated: UInt64 = 0
    /// The number of sources that have read the injector: one more at each retry.
    public var sources = 0

    init() {}
}

/// The outcome of a push.
public enum InjectorOutcome: Sendable, Hashable {
    /// The source gets the item, unless a newer one replaces it.
    case queued
    /// The item was dropped and counted.
    case dropped(DropReason)
}
