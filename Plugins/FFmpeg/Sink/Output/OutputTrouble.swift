import CFFmpeg
import InletCore
import InletFFmpeg

/// Converts write errors of libavformat into explanatory errors.
enum OutputTrouble {
    static func error(
        _ code: Int32, _ facts: FFmpegLogging.Facts, operation: String, _ output: FFmpegOutput, hasExpired: Bool
    ) -> InletError {
        let context = InletError.Context(subject: output.redactedURI, operation: operation, nativeCode: code)
        func error(_ kind: InletError.Code, _ message: String) -> InletError {
            InletError(kind, message, context: context)
        }
        if hasExpired {
            return operation != "avio_open2" && operation != "avformat_write_header"
                ? error(
                    .timedOut,
                    "The server accepted no data for \(output.writeTimeout.optionText). write-timeout sets how long to wait."
                )
                : error(
                    .timedOut,
                    "The connection was not made within \(output.connectTimeout.optionText). Check the address and the server; "
                        + "connect-timeout sets how long to wait.")
        }
        guard output.container.isNetwork else {
            switch code {
            case -ENOENT: return error(.notFound, "The folder of the path does not exist; create it first.")
            case -EINVAL where operation == "av_write_frame":
                return error(.malformedData, "The container rejected a packet because of its times or its data.")
            case -EISDIR: return error(.invalidConfiguration, "That is a folder; add a file name.")
            default: return InletError(ffmpeg: code, operation: operation, subject: output.redactedURI)
            }
        }
        if facts.nameIsUnknown {
            return error(
                .hostNotFound, "The name service does not know the host. Check its spelling, and that DNS works.")
        }
        if facts.tlsFailed {
            return error(
                .tlsFailed,
                "The TLS handshake failed: the certificate is not trusted or is for another host, "
                    + "or the server does not use TLS. "
                    + "Name the certificate's authority with tls-ca.")
        }
        if let status = facts.status, status >= 400 {
            return [401, 403, 407].contains(status)
                ? error(.authenticationFailed, "The server requires credentials or rejected them. (status \(status))")
                : status >= 500
                    ? error(.serverUnavailable, "The server cannot accept the stream now. (status \(status))")
                    : error(
                        .unsupported,
                        "The server rejected the stream. It may accept none at this path. (status \(status))")
        }
        switch code {
        case -ECONNREFUSED:
            return error(.connectionRefused, "Nothing listens at the address. Check the port and the server.")
        // RTMP, SRT and RTSP report a peer that is gone as EIO or as libavformat's -1, which is not an errno.
        case -EPERM, -EIO, -EPIPE, -ECONNRESET, -ECONNABORTED, -ENOTCONN, inlet_averror_eof, inlet_averror_unknown:
            return error(
                .disconnected, "The server closed the connection, or rejected the stream. Check its log.")
        default: return InletError(ffmpeg: code, operation: operation, subject: output.redactedURI)
        }
    }
}
