import CSRT
import InletCore

// Unsafe: reads libsrt's text of an error.
/// Explains why libsrt could not connect or send.
struct SRTTrouble {
    private let subject: String
    private let connectTimeout: Duration

    init(_ output: FFmpegOutput) {
        subject = output.redactedURI
        connectTimeout = output.connectTimeout
    }

    private func error(
        _ code: InletError.Code, _ message: String, operation: String? = nil, nativeCode: Int32? = nil
    ) -> InletError {
        InletError(
            code, message, context: .init(subject: subject, operation: operation, nativeCode: nativeCode))
    }

    /// Returns the error of the call that has just failed on this thread.
    func error(operation: String) -> InletError {
        var system: Int32 = 0
        let code = unsafe srt_getlasterror(&system)
        let text = unsafe String(cString: srt_getlasterror_str()).sanitized(limit: 200)
        func error(_ kind: InletError.Code, _ message: String) -> InletError {
            self.error(kind, message, operation: operation, nativeCode: code)
        }
        switch SRT_ERRNO(code) {
        case SRT_EBINDCONFLICT, SRT_EDUPLISTEN:
            return error(.busy, "Another connection has this port. Take another one, or end that first.")
        case SRT_ESOCKFAIL where operation == "srt_bind", SRT_ECONNSETUP where operation == "srt_bind":
            return error(.busy, "The address cannot be listened at: \(text). Check that it is this machine's and free.")
        case SRT_ERESOURCE, SRT_ETHREAD, SRT_ENOBUF: return error(.resourceExhausted, "SRT has no resources: \(text).")
        default: return error(.inputOutput, "SRT failed: \(text).")
        }
    }

    /// Returns the error for an option that libsrt does not accept.
    func refused(option: String) -> InletError {
        error(
            .invalidConfiguration, "SRT does not take the value of '\(option)'. Its range is in libsrt's documents.",
            operation: "srt_setsockflag", nativeCode: srt_getlasterror(nil))
    }

    /// Returns the error if no peer answered, or none connected.
    func timedOut(isListening: Bool) -> InletError {
        isListening
            ? error(
                .timedOut,
                "Nobody connected within \(connectTimeout.optionText), or nobody who was let in. "
                    + "connect-timeout sets how long to wait.")
            : error(
                .timedOut,
                "The connection was not made within \(connectTimeout.optionText). Check the address and the server; "
                    + "connect-timeout sets how long to wait.")
    }

    /// Returns the error for a peer that no longer answers.
    func silent(after time: Duration) -> InletError {
        error(
            .timedOut,
            "The server took nothing for \(time.optionText). write-timeout sets how long to wait.")
    }

    /// Returns the error for a connection that ended, or that was refused.
    func broken(_ socket: SRTSOCKET) -> InletError {
        let reason = srt_getrejectreason(socket)
        func error(_ kind: InletError.Code, _ message: String) -> InletError {
            self.error(kind, message, operation: "srt_connect", nativeCode: reason)
        }
        switch reason {
        case 0:
            return self.error(
                .disconnected, "The server broke the connection off. Its log may say why.", operation: "srt_sendmsg2",
                nativeCode: srt_getlasterror(nil))
        case Self.number(SRT_REJ_TIMEOUT): return timedOut(isListening: false)
        case Self.number(SRT_REJ_BADSECRET):
            return error(.authenticationFailed, "The server has another passphrase.")
        case Self.number(SRT_REJ_UNSECURE):
            return error(
                .authenticationFailed, "The server wants a passphrase and there is none, or the other way round.")
        case SRT_REJX_UNAUTHORIZED, SRT_REJX_FORBIDDEN:
            return error(.authenticationFailed, "The server refuses the streamid. (\(Self.text(reason)))")
        case Self.number(SRT_REJ_BACKLOG), Self.number(SRT_REJ_RESOURCE), Self.number(SRT_REJ_CLOSE),
            SRT_REJX_OVERLOAD, SRT_REJX_CONFLICT, SRT_REJX_LOCKED, SRT_REJX_ISE, SRT_REJX_GW, SRT_REJX_DOWN,
            SRT_REJX_NOROOM:
            return error(.serverUnavailable, "The server cannot take the stream now. (\(Self.text(reason)))")
        case Self.number(SRT_REJ_VERSION), Self.number(SRT_REJ_MESSAGEAPI), Self.number(SRT_REJ_CONGESTION),
            Self.number(SRT_REJ_FILTER), Self.number(SRT_REJ_GROUP), SRT_REJX_NOTFOUND, SRT_REJX_BAD_MODE,
            SRT_REJX_BAD_REQUEST, SRT_REJX_UNACCEPTABLE, SRT_REJX_NOTSUP_MEDIA, SRT_REJX_UNIMPLEMENTED,
            SRT_REJX_VERSION:
            return error(
                .unsupported,
                "The server refuses the stream; it may not take any by this streamid. (\(Self.text(reason)))")
        default:
            return error(.connectionRefused, "The server refuses the connection. (\(Self.text(reason)))")
        }
    }

    private static func number(_ reason: SRT_REJECT_REASON) -> Int32 { Int32(bitPattern: reason.rawValue) }

    private static func text(_ reason: Int32) -> String {
        let text = unsafe srt_rejectreason_str(reason).map { unsafe String(cString: $0) } ?? ""
        return "\(text.sanitized(limit: 100)), \(reason)"
    }
}
