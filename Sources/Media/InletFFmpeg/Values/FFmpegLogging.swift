import CFFmpeg
import InletCore
import Logging

// Unsafe: receives libav's log callback.
/// Sends libav*'s log to swift-log, under the label `inlet.libav`.
///
/// libav* has one log for the whole process, so this is installed once, by the first plug-in that asks. Its errors
/// become `info`: the relevant ones are also return codes, and a damaged file can cause the same message for every
/// frame, which is then logged once a second.
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

    /// Redirects libav*'s log to swift-log. Cheap after the first call.
    package static func install() { _ = installed }

    /// Returns the facts that libav* has reported on this thread only in its log, since the last call.
    ///
    /// Never inlined, because the C variables that it uses belong to this file.
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

    /// Stops this thread from following RTSP redirects until the facts are taken: an opening that meets a redirect
    /// ends, and ``Facts/redirect`` is its target.
    ///
    /// Never inlined, like ``takeFacts()``.
    @inline(never) package static func holdRedirects() {
        guard let noted = unsafe inlet_log_facts(), let text = unsafe inlet_log_redirect() else { return }
        unsafe noted.pointee.holds_redirects = 1
        unsafe text.pointee = 0
    }

    /// Adds facts of a transport that libav* reads from on this thread, as libav*'s own transports report theirs in the
    /// log.
    ///
    /// Never inlined, like ``takeFacts()``.
    @inline(never) package static func note(_ facts: Facts) {
        guard let noted = unsafe inlet_log_facts() else { return }
        if facts.nameIsUnknown { unsafe noted.pointee.unresolved = 1 }
        if facts.tlsFailed { unsafe noted.pointee.tls_failed = 1 }
        if let status = facts.status { unsafe noted.pointee.status = Int32(clamping: status) }
    }

    /// The facts that ``takeFacts()`` returns.
    package struct Facts: Sendable {
        /// The number of times that RTP packets were missing.
        package var losses = 0
        /// Whether the name service does not know the host.
        package var nameIsUnknown = false
        /// Whether the TLS handshake failed.
        package var tlsFailed = false
        /// Whether a picture has more pixels than the decoder accepts.
        package var isOversized = false
        /// Whether libav* tried to open something by a protocol that it may not use.
        package var opensByItself = false
        /// The status with which an RTSP or HTTP server refused a request.
        package var status: Int?
        /// The target of an RTSP server's redirect; only after ``FFmpegLogging/holdRedirects()``.
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

    /// Logs held-back lines. For the end of a program; during a run they are logged within a second.
    package static func flush() { log.flush() }

    private static func log(_ level: Int32, _ text: String) {
        // Much of it is a server's or a file's text.
        let line = Redaction.redact(text).trimmed().sanitized()
        guard !line.isEmpty else { return }
        // Positions and times differ in every line about the same trouble.
        let key = String(decoding: line.utf8.filter { !$0.isASCIIDigit }, as: UTF8.self)
        log.log(level <= AV_LOG_ERROR ? .info : .debug, line, key: key)
    }
}
