import CSRT
import InletCore
import Logging

// Unsafe: receives libsrt's log callback.
/// Sends libsrt's log to swift-log, under the label `inlet.libsrt`. libsrt itself would write to standard error.
///
/// libsrt has one log for the whole process. Its errors are logged as `info`, like those of libav*: the relevant ones
/// are also return codes.
enum SRTLogging {
    private static let log = RepeatedLog(Logger(label: "inlet.libsrt"))

    private static let installed: Void = {
        srt_startup()
        srt_setloglevel(LOG_WARNING)
        srt_setlogflags(inlet_srt_log_flags)
        unsafe srt_setloghandler(nil) { _, level, _, _, area, message in
            guard let message = unsafe message else { return }
            let area = unsafe area.map { unsafe String(cString: $0) } ?? ""
            SRTLogging.log(level, area, unsafe String(cString: message))
        }
    }()

    /// Starts libsrt, which runs until the process ends, and redirects its log. Cheap after the first call.
    static func install() { _ = installed }

    private static func log(_ level: Int32, _ area: String, _ message: String) {
        // Much of it is text from a peer.
        let line = Redaction.redact("\(area) \(message)").trimmed().sanitized()
        guard !line.isEmpty else { return }
        // Socket numbers and addresses differ in every line about the same trouble.
        let key = String(decoding: line.utf8.filter { !$0.isASCIIDigit }, as: UTF8.self)
        log.log(level <= LOG_ERR ? .info : .debug, line, key: key)
    }
}
