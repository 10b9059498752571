package import InletCore

/// A violation of the parser's limits. The connection cannot be used any longer.
package enum RTSPParserError: Error, Sendable, Equatable {
    /// The head of a message is too long.
    case headTooLong(limit: Int)
    /// A message has too many header lines.
    case tooManyHeaders(limit: Int)
    /// A message states a body that is too long.
    case bodyTooLong(limit: Int)
    /// The given number of bytes contains nothing that looks like RTSP.
    case synchronizationLost(skipped: Int)

    /// The error as users see it.
    package var inletError: InletError {
        switch self {
        case .headTooLong(let limit):
            InletError(.malformedData, "The server sends a message with more than \(limit) bytes of headers.")
        case .tooManyHeaders(let limit):
            InletError(.malformedData, "The server sends a message with more than \(limit) headers.")
        case .bodyTooLong(let limit):
            InletError(.malformedData, "The server announces a message body of more than \(limit) bytes.")
        case .synchronizationLost(let skipped):
            InletError(
                .malformedData,
                "The server sends \(skipped) bytes that are not RTSP. Is the port that of an RTSP server?")
        }
    }
}
