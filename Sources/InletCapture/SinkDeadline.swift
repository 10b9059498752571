import Dispatch
import InletCore
import Synchronization

/// Waits for sinks to finish, but not for ever once the run was told to stop.
enum SinkDeadline {
    /// - Returns: nil when all have finished; an error that names those that had not when the time was up.
    static func wait(
        for receivers: [any FrameReceiver], stopTimeout: Duration, isStopped: Bool,
        stopRequested: @escaping @Sendable () -> Bool
    ) async -> InletError? {
        guard !receivers.isEmpty else { return nil }
        let all = Completion<Bool>()
        let waiting = Task {
            for receiver in receivers { await receiver.ended.value() }
            all.resolve(true)
        }
        // Without a stop, what waits is delivered however long that takes; a stop that comes meanwhile starts the time.
        let ticks = DispatchSource.makeTimerSource(queue: .global())
        let timeout = DispatchTimeInterval.nanoseconds(Int(clamping: stopTimeout.wholeNanoseconds))
        if isStopped {
            ticks.schedule(deadline: .now() + timeout)
            ticks.setEventHandler { all.resolve(false) }
        } else {
            ticks.schedule(
                deadline: .now() + .milliseconds(50), repeating: .milliseconds(50), leeway: .milliseconds(20))
            ticks.setEventHandler {
                guard stopRequested() else { return }
                for receiver in receivers { receiver.close() }
                ticks.setEventHandler { all.resolve(false) }
                ticks.schedule(deadline: .now() + timeout)
            }
        }
        ticks.resume()
        let finished = await all.value()
        ticks.cancel()
        guard !finished else { return nil }
        waiting.cancel()
        let names = receivers.filter { $0.counters.isAttached.load(ordering: .relaxed) }.map(\.name)
        // All of them finished at the last moment.
        guard !names.isEmpty else { return nil }
        return InletError(
            .timedOut,
            "\(names.joined(separator: ", ")) did not finish within \(stopTimeout) of the stop and was given up.",
            context: .init(operation: "finish"))
    }
}
