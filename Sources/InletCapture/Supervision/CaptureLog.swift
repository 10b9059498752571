import Dispatch
import InletCore
import Logging
import Synchronization

/// What a capturer logs about trouble that may come with every frame: once a second with a count.
final class CaptureLog: Sendable {
    private let repeated: RepeatedLog
    /// The source by its URI, without credentials.
    private let source: String

    init(_ logger: Logger, source: String, clock: any CaptureClock) {
        let delayed = DelayedAction(clock)
        repeated = RepeatedLog(logger, now: { clock.now }, later: { delayed.plan($1, after: $0) })
        self.source = source
    }

    /// A frame was dropped for a sink. What a queue or rate does as it was told is for debugging, the rest a warning.
    func dropped(_ reason: DropReason, by sink: String) {
        let level: Logger.Level = Self.intended.contains(reason) ? .debug : .warning
        trouble("\(source): dropped a frame for \(sink): \(reason)", level: level)
    }

    /// Something that may come again and again.
    ///
    /// - Parameter key: what makes messages the same. The default, nil, is the message itself.
    func trouble(_ message: @autoclosure () -> String, level: Logger.Level = .warning, key: String? = nil) {
        repeated.log(level, message(), key: key)
    }

    /// Logs what is held back, at the end of a run.
    func flush() { repeated.flush() }

    private static let intended: Set<DropReason> = [.superseded, .rateLimited, .cancelled, .disabled]
}

/// The one action that a log has planned, by the capturer's clock.
private final class DelayedAction: Sendable {
    private let clock: any CaptureClock
    private let queue = DispatchQueue(label: "inlet.log")
    private let state = Mutex(State())

    private struct State {
        var timer: (any CaptureTimer)?
        var action: (@Sendable () -> Void)?
    }

    init(_ clock: any CaptureClock) { self.clock = clock }

    /// Does `action` after a while, in place of what was planned before.
    func plan(_ action: @escaping @Sendable () -> Void, after delay: Duration) {
        state.withLock { state in
            state.action = action
            let timer = state.timer ?? clock.makeTimer(on: queue) { [weak self] in self?.act() }
            state.timer = timer
            timer.set(for: clock.now + delay, leeway: delay / 20)
        }
    }

    private func act() {
        // Outside of the lock, as the action may plan the next.
        state.withLock { $0.action.take() }?()
    }
}
