import InletCore

/// A stream's turn to decode, given back when the stream ends at the latest.
final class DecodingTurn {
    private var isHeld = false

    deinit { give() }

    /// Waits for a turn, for as long as the picture can still be in time. Does nothing where there is one already.
    ///
    /// - Parameter rank: which stream is next, at a time.
    func take(until end: MonotonicTime, _ context: SourceContext, rank: (MonotonicTime) -> Double) {
        while !isHeld, !context.shouldGiveUp {
            let now = context.clock.now
            guard now < end else { return }
            // In slices, so that a cancellation is seen.
            isHeld = DecodingTurns.shared.take(rank: rank(now), atMost: min(end - now, .milliseconds(50)))
        }
    }

    /// Gives the turn back, where there is one.
    func give() {
        if isHeld { DecodingTurns.shared.give() }
        isHeld = false
    }
}
