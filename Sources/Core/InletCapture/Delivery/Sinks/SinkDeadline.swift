import Dispatch
import InletCore
import Synchronization

/// Waits for sinks to finish, but with a deadline once they were asked to stop.
enum SinkDeadline {
    /// Waits until all have finished. Until `stop` resolves, queued frames are delivered however long that takes; then
    /// the receivers are closed and have `stopTimeout` left.
    ///
    /// - Returns: nil if all have finished; otherwise an error that names those that had not in time.
    static func wait(
        for receivers: [any SinkReceiver], stopTimeout: Duration, stop: Completion<Void>, clock: any CaptureClock
    ) async -> InletError? {
        let ended = end(of: receivers)
        // Resolves at whichever happens first. Only this value remains in a completion that never resolves.
        let first = Completion<Bool>()
        ended.observe { first.resolve(true) }
        stop.observe { first.resolve(false) }
        if await first.value() { return nil }

        for receiver in receivers { receiver.close() }
        let last = Completion<Bool>()
        ended.observe { last.resolve(true) }
        let timer = clock.makeTimer(on: DispatchQueue(label: "inlet.sink-deadline")) { last.resolve(false) }
        timer.set(for: clock.now + stopTimeout)
        defer { timer.cancel() }
        if await last.value() { return nil }

        let names = receivers.filter { $0.counters.isAttached.load(ordering: .relaxed) }.map(\.name)
        // All of them finished at the last moment.
        guard !names.isEmpty else { return nil }
        return InletError(
            .timedOut,
            "\(names.joined(separator: ", ")) did not finish within \(stopTimeout) of the stop and was given up.",
            context: .init(operation: "finish"))
    }

    /// Returns a completion that resolves when every receiver has ended.
    private static func end(of receivers: [any SinkReceiver]) -> Completion<Void> {
        final class Countdown: Sendable {
            let left: Atomic<Int>
            init(_ count: Int) { left = Atomic(count) }
        }
        let all = Completion<Void>()
        guard !receivers.isEmpty else {
            all.resolve(())
            return all
        }
        let countdown = Countdown(receivers.count)
        for receiver in receivers {
            receiver.ended.observe {
                if countdown.left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { all.resolve(()) }
            }
        }
        return all
    }
}
