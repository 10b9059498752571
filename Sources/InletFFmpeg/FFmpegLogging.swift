import CFFmpeg
import InletCore
import Logging

/// Sends what libav* logs to swift-log, under the label `inlet.libav`.
///
/// libav* has one log for the whole process, so this is installed once, by the first plug-in that asks. Its errors
/// become `info`: what matters of them comes back as a return code, and a damaged file can say the same thing for every
/// frame, which is then one line a second.
package enum FFmpegLogging {
    private static let log = RepeatedLog(Logger(label: "inlet.libav"))

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

    /// What libav* has told this thread in its log, and nowhere else, since the last call.
    ///
    /// Never inlined, as the C variables behind it belong to this file.
    @inline(never) package static func takeFacts() -> Facts {
        guard let noted = unsafe inlet_log_facts() else { return Facts() }
        defer { unsafe noted.pointee = .init() }
        let status = unsafe Int(noted.pointee.status)
        var redirect: String?
        if unsafe noted.pointee.holds_redirects != 0, let text = unsafe inlet_log_redirect(), unsafe text.pointee != 0 {
            redirect = unsafe String(cString: text)
        }
        return unsafe Facts(
            losses: Int(noted.pointee.missed_packets), nameIsUnknown: noted.pointee.unresolved != 0,
            tlsFailed: noted.pointee.tls_failed != 0, isOversized: noted.pointee.oversized != 0,
            opensByItself: noted.pointee.opens_itself != 0,
            status: status > 0 ? status : nil, redirect: redirect)
    }

    /// Has this thread follow no redirect of RTSP until the facts are taken: an opening that meets one ends, and
    /// ``Facts/redirect`` says where it leads.
    ///
    /// Never inlined, as ``takeFacts()``.
    @inline(never) package static func holdRedirects() {
        guard let noted = unsafe inlet_log_facts(), let text = unsafe inlet_log_redirect() else { return }
        unsafe noted.pointee.holds_redirects = 1
        unsafe text.pointee = 0
    }

    /// Adds what a transport that libav* reads from has met on this thread, as libav*'s own tell it in the log.
    ///
    /// Never inlined, as ``takeFacts()``.
    @inline(never) package static func note(_ facts: Facts) {
        guard let noted = unsafe inlet_log_facts() else { return }
        if facts.nameIsUnknown { unsafe noted.pointee.unresolved = 1 }
        if facts.tlsFailed { unsafe noted.pointee.tls_failed = 1 }
        if let status = facts.status { unsafe noted.pointee.status = Int32(clamping: status) }
    }

    /// See ``takeFacts()``.
    package struct Facts: Sendable {
        /// Times at which RTP packets were missing.
        package var losses = 0
        /// The name service does not know the host.
        package var nameIsUnknown = false
        /// TLS could not be agreed on.
        package var tlsFailed = false
        /// A picture has more pixels than the decoder may take in.
        package var isOversized = false
        /// libav* wanted to open something by a protocol that it may not use.
        package var opensByItself = false
        /// The status with which an RTSP or HTTP server refused a request.
        package var status: Int?
        /// Where an RTSP server leads; only after ``FFmpegLogging/holdRedirects()``.
        package var redirect: String?

        package init(
            losses: Int = 0, nameIsUnknown: Bool = false, tlsFailed: Bool = false, isOversized: Bool = false,
            opensByItself: Bool = false, status: Int? = nil, redirect: String? = nil
        ) {
            self.losses = losses
            self.nameIsUnknown = nameIsUnknown
            self.tlsFailed = tlsFailed
            self.isOversized = isOversized
            self.opensByItself = opensByItself
            self.status = status
            self.redirect = redirect
        }
    }

    /// Logs what was held back. For the end of a program; during a run held lines come out within a second.
    package static func flush() { log.flush() }

    private static func log(_ level: Int32, _ text: String) {
        // Much of it is what a server or a file says.
        let line = Redaction.redact(text).trimmed().sanitized()
        guard !line.isEmpty else { return }
        // Positions and times differ in every line about the same trouble.
        let key = String(decoding: line.utf8.filter { !$0.isASCIIDigit }, as: UTF8.self)
        log.log(level <= AV_LOG_ERROR ? .info : .debug, line, key: key)
    }
}
