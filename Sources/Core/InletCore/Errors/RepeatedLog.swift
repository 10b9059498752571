public import Logging
import Synchronization

/// Logs repeated messages as at most one line a second with a count.
///
/// The first message under a key is logged at once. From then on the key has at most one line an interval, which is the
/// newest message and the number of messages since the previous line, such as `cannot decode a picture (28 times)`.
/// When the messages stop, the messages held back are logged at the end of the interval. The numbers of all lines add
/// up to the number of messages.
///
/// Memory and lines are bounded: while as many keys as the capacity are in use, messages under further keys share one
/// line. Safe from any thread. A message of a level that the logger ignores costs a comparison.
public final class RepeatedLog: Sendable {
    /// Runs an action after a delay.
    public typealias Later = @Sendable (_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> Void

    private let logger: Logger
    private let now: @Sendable () -> MonotonicTime
    private let later: Later
    private let state: Mutex<RepeatedLogStateMachine>

    /// - Parameters:
    ///   - logger: receives the lines.
    ///   - interval: the least time between two lines of one key. The default is a second.
    ///   - capacity: how many keys are distinguished at one time, at least 1. The default is 64.
    ///   - now: returns the time. The default is the machine's monotonic time.
    ///   - later: calls an action after a delay, on any thread. Used only while something is held back. The default is
    ///     a task that sleeps.
    public init(
        _ logger: Logger, interval: Duration = .seconds(1), capacity: Int = 64,
        now: (@Sendable () -> MonotonicTime)? = nil, later: Later? = nil
    ) {
        self.logger = logger
        self.now = now ?? { Self.uptime }
        self.later = later ?? Self.afterSleep
        state = Mutex(RepeatedLogStateMachine(interval: interval, capacity: capacity))
    }

    /// Logs a message, or counts it if its key had a line less than an interval ago.
    ///
    /// - Parameters:
    ///   - level: the severity.
    ///   - message: for people; only evaluated if the logger accepts the level.
    ///   - key: identifies equal messages. The default, nil, is the message itself.
    ///   - metadata: added to the line.
    public func log(
        _ level: Logger.Level, _ message: @autoclosure () -> String, key: String? = nil,
        metadata: @autoclosure () -> Logger.Metadata? = nil
    ) {
        guard logger.logLevel <= level else { return }
        let line = RepeatedLogStateMachine.Line(level: level, message: message(), metadata: metadata())
        let now = now()
        switch state.withLock({ $0.note(line, key: key ?? line.message, at: now) }) {
        case .log(let line): write(line)
        case .held(let delay): wake(after: delay)
        }
    }

    /// Logs the messages held back now, as at the end of a run.
    public func flush() {
        let now = now()
        state.withLock { $0.takeAll(at: now) }.forEach(write)
    }

    private func wake(after delay: Duration?) {
        guard let delay else { return }
        later(delay) { [weak self] in
            guard let self else { return }
            let now = now()
            let (lines, delay) = state.withLock { $0.linesDue(at: now) }
            lines.forEach(write)
            wake(after: delay)
        }
    }

    // Outside the lock, because a log handler may be slow, or log itself.
    private func write(_ line: RepeatedLogStateMachine.Line) {
        logger.log(level: line.level, "\(line.text)", metadata: line.metadata)
    }

    private static let origin = SuspendingClock.now
    private static var uptime: MonotonicTime {
        MonotonicTime(nanoseconds: (SuspendingClock.now - origin).wholeNanoseconds)
    }

    private static let afterSleep: Later = { delay, action in
        Task {
            try? await Task.sleep(for: delay)
            action()
        }
    }
}
