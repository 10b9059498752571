import Dispatch
import InletCore
import Logging
import Synchronization

/// Logs trouble that may occur with every frame: at most once a second, with a count.
final class CaptureLog: Sendable {
    private let repeated: RepeatedLog
    /// The source's URI, without credentials.
    private let source: String

    init(_ logger: Logger, source: String, clock: any CaptureClock) {
        let delayed = DelayedAction(clock)
        repeated = RepeatedLog(logger, now: { clock.now }, later: { delayed.plan($1, after: $0) })
        self.source = source
    }

    /// Logs that a frame was dropped for a sink: at debug level if a queue or rate works as configured, or if the sink
    /// has no peer; otherwise as a warning.
    func dropped(_ reason: DropReason, by sink: String) {
        let level: Logger.Level = Self.intended.contains(reason) ? .debug : .warning
        trouble("\(source): dropped a frame for \(sink): \(reason)", level: level)
    }

    /// Logs a message that may be repeated.
    ///
    /// - Parameter key: identifies equal messages. The default, nil, is the message itself.
    func trouble(_ message: @autoclosure () -> String, level: Logger.Level = .warning, key: String? = nil) {
        repeated.log(level, message(), key: key)
    }

    /// Logs the messages held back, at the end of a run.
    func flush() { repeated.flush() }

    private static let intended: Set<DropReason> = [.superseded, .rateLimited, .cancelled, .disabled, .notConnected]
}

/// The one action that a log has scheduled, by the capturer's clock.
private final class DelayedAction: Sendable {
    private let clock: any CaptureClock
    private let queue = DispatchQueue(label: "inlet.log")
    private let state = Mutex(State())

    private struct State {
        var timer: (any CaptureTimer)?
        var action: (@Sendable () -> Void)?
    }

    init(_ clock: any CaptureClock) { self.clock = clock }

    /// Runs `action` after a delay. It replaces the previously scheduled action.
    func plan(_ action: @escaping @Sendable () -> Void, after delay: Duration) {
        state.withLock { state in
            state.action = action
            let timer = state.timer ?? clock.makeTimer(on: queue) { [weak self] in self?.act() }
            state.timer = timer
            timer.set(for: clock.now + delay, leeway: delay / 20)
        }
    }

    private func act() {
        // Outside of the lock, because the action may schedule the next.
        state.withLock { $0.action.take() }?()
    }
}
