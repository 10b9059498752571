import InletCore
import Synchronization

/// Counts how many frames were dropped for which reason, from any thread; without a lock for Inlet's own reasons.
final class DropCounters: Sendable {
    /// The reasons with a dedicated slot, those that may occur for every frame first.
    private static let known: [DropReason] = [
        .superseded, .rateLimited, .queueFull, .poolExhausted, .conversionFailed, .sinkFailed, .cancelled, .damaged,
        .undecodable, .outOfOrder, .lostBySource, .disabled, .notConnected,
    ]

    private let slots = AtomicCounters(count: known.count)
    private let others = Mutex([DropReason: UInt64]())

    func count(_ reason: DropReason, _ number: UInt64 = 1) {
        guard number > 0 else { return }
        if let slot = Self.known.firstIndex(of: reason) {
            slots.add(number, at: slot)
        } else {
            others.withLock { $0[reason, default: 0] &+= number }
        }
    }

    /// The counts so far, without the reasons that never occurred.
    var snapshot: [DropReason: UInt64] {
        var counts = others.withLock { $0 }
        for (slot, reason) in Self.known.enumerated() {
            let number = slots.load(at: slot)
            if number > 0 { counts[reason] = number }
        }
        return counts
    }
}
