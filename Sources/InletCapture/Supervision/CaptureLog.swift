import InletCore
import Logging

/// What a capturer logs about trouble that may come with every frame: once a second with a count.
final class CaptureLog: Sendable {
    private let repeated: RepeatedLog
    /// The source by its URI, without credentials.
    private let source: String

    init(_ logger: Logger, source: String, clock: any CaptureClock) {
        repeated = RepeatedLog(logger, now: { clock.now })
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
