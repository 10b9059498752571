import InletCore

/// Reads the head of one HTTP response (RFC 9112, sections 4 and 5), in whatever pieces it arrives.
struct HTTPHeadReader: Sendable {
    /// The most bytes of a head. Interim responses count with the response that they precede.
    static let longestHead = 65_536
    private static let mostHeaders = 255

    private var message = PartialMessage()
    private var length = 0

    /// Reads bytes up to the end of the head.
    ///
    /// - Parameter position: where to begin; moves past the bytes that were read.
    /// - Returns: the response without its body; nil if more bytes are needed. An interim response, such as `100
    ///   Continue`, is skipped (RFC 9110, section 15.2).
    /// - Throws: ``InletError/Code/malformedData`` if the bytes are not a response or are too long.
    mutating func read(_ bytes: RawSpan, _ position: inout Int) throws(InletError) -> RTSPResponse? {
        while position < bytes.byteCount {
            let byte = bytes.octet(at: position)
            position += 1
            length += 1
            guard length <= Self.longestHead else {
                throw RTSPParserError.headTooLong(limit: Self.longestHead).inletError
            }
            guard byte == UInt8(ascii: "\n") else {
                message.line.append(byte)
                continue
            }
            switch message.finishLine(mostHeaders: Self.mostHeaders) {
            case .more: break
            case .noMessage:
                throw InletError(.malformedData, "The server does not answer with HTTP. Check the port.")
            case .tooManyHeaders: throw RTSPParserError.tooManyHeaders(limit: Self.mostHeaders).inletError
            case .end:
                let event = message.event
                message = PartialMessage()
                guard case .response(let response) = event else {
                    throw InletError(.malformedData, "The server does not answer with HTTP. Check the port.")
                }
                if response.isHTTP, (100..<200).contains(response.status), response.status != 101 { continue }
                return response
            }
        }
        return nil
    }
}
