import CFFmpeg
import InletCore
import Logging
import Synchronization

/// Sends what libav* logs to swift-log, under the label `inlet.libav`.
///
/// libav* has one log for the whole process, so this is installed once, by the first plug-in that asks. Its errors become `info`: what matters
/// of them comes back as a return code, and a damaged file can say the same thing for every frame.
package enum FFmpegLogging {
    private static let logger = Logger(label: "inlet.libav")
    private static let last = Mutex(Repetition())

    /// The line that was logged last, and how often it came again since.
    private struct Repetition {
        var line = ""
        var count = 0
    }

    private static let installed: Void = {
        unsafe inlet_log_install(
            { level, origin, line in
                guard let line = unsafe line else { return }
                let origin = unsafe origin.map { unsafe String(cString: $0) } ?? "libav"
                FFmpegLogging.log(level, "\(origin): \(unsafe String(cString: line))")
            }, AV_LOG_WARNING)
    }()

    /// Makes sure that libav* logs through swift-log. Cheap after the first call.
    package static func install() { _ = installed }

    private static func log(_ level: Int32, _ text: String) {
        var line = Redaction.redact(text)
        while line.last?.isNewline == true { line.removeLast() }
        guard !line.isEmpty else { return }
        let repeats = last.withLock { last -> Int? in
            if last.line == line {
                last.count += 1
                // A line that comes again is logged at its 10th, 100th, 1000th time.
                return [10, 100, 1000, 10_000, 100_000].contains(last.count) ? last.count : nil
            }
            last = Repetition(line: line, count: 1)
            return 1
        }
        guard let repeats else { return }
        let suffix = repeats > 1 ? " (\(repeats) times)" : ""
        logger.log(level: level <= AV_LOG_ERROR ? .info : .debug, "\(line)\(suffix)")
    }
}
