import CFFmpeg
import InletCore
import InletFFmpeg

/// Explains why libavformat failed to read a network stream.
enum NetworkTrouble {
    /// Returns the error for a failure of libavformat.
    ///
    /// - Parameters:
    ///   - code: libavformat's result.
    ///   - facts: the logged facts for which it has no codes: the server's status, and failures of lower layers.
    static func error(_ code: Int32, _ facts: FFmpegLogging.Facts, operation: String) -> InletError {
        let context = InletError.Context(operation: operation, nativeCode: code)
        if facts.nameIsUnknown {
            return InletError(
                .hostNotFound,
                "The name service does not know the host. Check its spelling, and that DNS works (getent hosts NAME).",
                context: context)
        }
        if facts.tlsFailed {
            return InletError(
                .tlsFailed,
                "The TLS handshake failed: the certificate is not trusted or is for another host, "
                    + "or the server does not use TLS. "
                    + "Name the certificate's authority with tls-ca.", context: context)
        }
        if let status = facts.status, status >= 400 { return refusal(status: status, context) }
        switch code {
        case -ECONNREFUSED:
            return InletError(
                .connectionRefused,
                "Nothing listens at the address. Check the port, and that the server runs.", context: context)
        case inlet_averror_eof:
            return InletError(
                .streamEnded, "The server ended the stream. Check its log.", context: context)
        // libavformat returns EIO if a server closes the connection before all promised data has arrived.
        case -ECONNRESET, -EPIPE, -ECONNABORTED, -ENOTCONN, -ENETRESET, -EIO:
            return InletError(
                .disconnected, "The connection was lost. Check the server and the network.", context: context)
        case -EPERM:
            // libavformat's -1, which is not an errno.
            return InletError(
                .disconnected, "The server's answer was invalid or incomplete. Check its log.", context: context
            )
        default: return InletError(ffmpeg: code, operation: operation)
        }
    }

    /// Returns whether no server answered, so that another address of the same host can be tried.
    ///
    /// - Parameter hasExpired: whether libavformat was interrupted, for which it has no distinct code.
    static func isUnreached(_ code: Int32, _ facts: FFmpegLogging.Facts, hasExpired: Bool) -> Bool {
        guard code < 0, facts.status == nil, facts.redirect == nil else { return false }
        return hasExpired
            || [
                -ECONNREFUSED, -EHOSTUNREACH, -EHOSTDOWN, -ENETUNREACH, -ENETDOWN, -ETIMEDOUT, -EADDRNOTAVAIL, -EACCES,
            ].contains(code)
    }

    /// Returns the error for an RTSP (RFC 2326, section 11) or HTTP status.
    private static func refusal(status: Int, _ context: InletError.Context) -> InletError {
        let (code, message): (InletError.Code, String) =
            switch status {
            case 401, 403, 407:
                (.authenticationFailed, "The server requires credentials or rejected them. Check user and password.")
            case 404, 410:
                (.notFound, "The server has nothing at this path. Check the part of the address after the host.")
            case 453:
                (
                    .noBandwidth,
                    "The server does not have enough bandwidth left. Stop other viewers, or use a smaller stream."
                )
            case 454: (.sessionLost, "The server has forgotten the session. It may have been restarted.")
            case 461:
                (.unsupported, "The server does not support this transport. Try another one: tcp, udp or http.")
            case 500...: (.serverUnavailable, "The server cannot serve the stream now. Check its log.")
            default: (.unsupported, "The server rejected the request. Check the address.")
            }
        return InletError(code, "\(message) (status \(status))", context: context)
    }
}
