import CSRT
import InletCore

// Unsafe: reads libsrt's error text.
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

    /// Returns the error of the call that just failed on this thread.
    func error(operation: String) -> InletError {
        var system: Int32 = 0
        let code = unsafe srt_getlasterror(&system)
        let text = unsafe String(cString: srt_getlasterror_str()).sanitized(limit: 200)
        func error(_ kind: InletError.Code, _ message: String) -> InletError {
            self.error(kind, message, operation: operation, nativeCode: code)
        }
        switch SRT_ERRNO(code) {
        case SRT_EBINDCONFLICT, SRT_EDUPLISTEN:
            return error(.busy, "Another connection uses this port. Choose another port, or end that connection first.")
        case SRT_ESOCKFAIL where operation == "srt_bind", SRT_ECONNSETUP where operation == "srt_bind":
            return error(
                .busy, "Cannot listen on the address: \(text). Check that it is one of this machine's and not in use.")
        case SRT_ERESOURCE, SRT_ETHREAD, SRT_ENOBUF: return error(.resourceExhausted, "SRT lacks resources: \(text).")
        default: return error(.inputOutput, "SRT failed: \(text).")
        }
    }

    /// Returns the error for an option that libsrt rejects.
    func refused(option: String) -> InletError {
        error(
            .invalidConfiguration, "SRT rejected the value of '\(option)'. See libsrt's documentation for its range.",
            operation: "srt_setsockflag", nativeCode: srt_getlasterror(nil))
    }

    /// Returns the error if no peer answered or connected in time.
    func timedOut(isListening: Bool) -> InletError {
        isListening
            ? error(
                .timedOut,
                "No accepted peer connected within \(connectTimeout.optionText). "
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
            "The server accepted no data for \(time.optionText). write-timeout sets how long to wait.")
    }

    /// Returns the error for a connection that ended or was rejected.
    func broken(_ socket: SRTSOCKET) -> InletError {
        let reason = srt_getrejectreason(socket)
        func error(_ kind: InletError.Code, _ message: String) -> InletError {
            self.error(kind, message, operation: "srt_connect", nativeCode: reason)
        }
        switch reason {
        case 0:
            return self.error(
                .disconnected, "The server closed the connection. Check its log.", operation: "srt_sendmsg2",
                nativeCode: srt_getlasterror(nil))
        case Self.number(SRT_REJ_TIMEOUT): return timedOut(isListening: false)
        case Self.number(SRT_REJ_BADSECRET):
            return error(.authenticationFailed, "The server has a different passphrase.")
        case Self.number(SRT_REJ_UNSECURE):
            return error(
                .authenticationFailed, "Only one side has a passphrase: the server or this sink.")
        case SRT_REJX_UNAUTHORIZED, SRT_REJX_FORBIDDEN:
            return error(.authenticationFailed, "The server rejected the streamid. (\(Self.text(reason)))")
        case Self.number(SRT_REJ_BACKLOG), Self.number(SRT_REJ_RESOURCE), Self.number(SRT_REJ_CLOSE),
            SRT_REJX_OVERLOAD, SRT_REJX_CONFLICT, SRT_REJX_LOCKED, SRT_REJX_ISE, SRT_REJX_GW, SRT_REJX_DOWN,
            SRT_REJX_NOROOM:
            return error(.serverUnavailable, "The server cannot accept the stream now. (\(Self.text(reason)))")
        case Self.number(SRT_REJ_VERSION), Self.number(SRT_REJ_MESSAGEAPI), Self.number(SRT_REJ_CONGESTION),
            Self.number(SRT_REJ_FILTER), Self.number(SRT_REJ_GROUP), SRT_REJX_NOTFOUND, SRT_REJX_BAD_MODE,
            SRT_REJX_BAD_REQUEST, SRT_REJX_UNACCEPTABLE, SRT_REJX_NOTSUP_MEDIA, SRT_REJX_UNIMPLEMENTED,
            SRT_REJX_VERSION:
            return error(
                .unsupported,
                "The server rejected the stream. It may accept none with this streamid. (\(Self.text(reason)))")
        default:
            return error(.connectionRefused, "The server rejected the connection. (\(Self.text(reason)))")
        }
    }

    private static func number(_ reason: SRT_REJECT_REASON) -> Int32 { Int32(bitPattern: reason.rawValue) }

    private static func text(_ reason: Int32) -> String {
        let text = unsafe srt_rejectreason_str(reason).map { unsafe String(cString: $0) } ?? ""
        return "\(text.sanitized(limit: 100)), \(reason)"
    }
}
