import InletCore

/// A stream's turn to decode, returned at the latest when the stream ends.
final class DecodingTurn {
    private var isHeld = false

    deinit { give() }

    /// Waits for a turn, for as long as the picture can still be in time. Does nothing if the stream already has one.
    ///
    /// - Parameter rank: returns the stream's rank at a time; the least is next.
    func take(until end: MonotonicTime, _ context: SourceContext, rank: (MonotonicTime) -> Double) {
        while !isHeld, !context.shouldGiveUp {
            let now = context.clock.now
            guard now < end else { return }
            // In slices, so that a cancellation is noticed.
            isHeld = DecodingTurns.shared.take(rank: rank(now), atMost: min(end - now, .milliseconds(50)))
        }
    }

    /// Returns the turn, if there is one.
    func give() {
        if isHeld { DecodingTurns.shared.give() }
        isHeld = false
    }
}
