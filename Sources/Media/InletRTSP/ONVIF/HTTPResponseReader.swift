package import InletCore

/// Reads one HTTP response with its body (RFC 9112, section 6), however its bytes are split.
package struct HTTPResponseReader: Sendable {
    /// The most bytes of a body.
    package static let longestBody = 256 << 10
    /// The most bytes of the line before a chunk, extensions included, and of all trailers.
    private static let longestLine = 4096

    private enum Framing: Sendable {
        case head
        /// The given number of bytes follows.
        case length(Int)
        /// The line with the next chunk's length is being read.
        case chunkLine
        /// The given number of bytes of a chunk follows.
        case chunk(Int)
        /// The line end after a chunk.
        case chunkEnd
        case trailers
        /// The body ends with the connection.
        case untilEnd
        case complete
    }

    private var head = HTTPHeadReader()
    private var framing = Framing.head
    private var response: RTSPResponse?
    private var line: [UInt8] = []
    private var trailerBytes = 0

    package init() {}

    /// Takes bytes that have arrived. Bytes after the response are ignored.
    ///
    /// - Returns: the response with its body; nil if more bytes are needed.
    /// - Throws: ``InletError/Code/malformedData`` for bytes that are not an HTTP response, or for one that is too
    ///   long.
    package mutating func receive(_ bytes: RawSpan) throws(InletError) -> RTSPResponse? {
        var position = 0
        if case .head = framing {
            guard let response = try head.read(bytes, &position) else { return nil }
            guard response.isHTTP else {
                throw InletError(.malformedData, "The device does not answer with HTTP. Check the port.")
            }
            self.response = response
            framing = try Self.framing(of: response)
        }
        while position < bytes.byteCount {
            if case .complete = framing { break }
            try take(bytes, &position)
        }
        if case .complete = framing { return response }
        return nil
    }

    /// Records that the connection has ended.
    ///
    /// - Returns: the response, if the end of the connection completes its body.
    /// - Throws: ``InletError/Code/disconnected`` if something is missing.
    package func ended() throws(InletError) -> RTSPResponse {
        if case .untilEnd = framing, let response { return response }
        throw InletError(.disconnected, "The device closed the connection before its answer was complete.")
    }

    private static func framing(of response: RTSPResponse) throws(InletError) -> Framing {
        if response.status == 204 || response.status == 304 { return .complete }
        let encodings = response.headers.values("Transfer-Encoding").flatMap { HeaderText.split($0, at: ",") }
        if let last = encodings.last, !TextBytes.isSame(last, ignoringCase: "identity") {
            guard encodings.count == 1, TextBytes.isSame(last, ignoringCase: "chunked") else {
                throw InletError(.unsupported, "The device's answer has an unsupported transfer coding.")
            }
            return .chunkLine
        }
        guard response.headers.first("Content-Length") != nil else { return .untilEnd }
        let length = response.headers.contentLength
        guard length <= longestBody else { throw tooLong }
        return length == 0 ? .complete : .length(length)
    }

    /// Takes bytes of the body, at least one.
    private mutating func take(_ bytes: RawSpan, _ position: inout Int) throws(InletError) {
        switch framing {
        case .head, .complete: position = bytes.byteCount
        case .length(let left):
            let count = try append(bytes, &position, upTo: left)
            framing = count == left ? .complete : .length(left - count)
        case .chunk(let left):
            let count = try append(bytes, &position, upTo: left)
            framing = count == left ? .chunkEnd : .chunk(left - count)
        case .untilEnd: _ = try append(bytes, &position, upTo: .max)
        case .chunkLine, .chunkEnd, .trailers: try takeLineByte(bytes.octet(at: position), &position)
        }
    }

    private mutating func append(
        _ bytes: RawSpan, _ position: inout Int, upTo most: Int
    ) throws(InletError) -> Int {
        let count = min(most, bytes.byteCount - position)
        guard count <= Self.longestBody - (response?.body.count ?? 0) else { throw Self.tooLong }
        for index in position..<(position + count) { response?.body.append(bytes.octet(at: index)) }
        position += count
        return count
    }

    private mutating func takeLineByte(_ byte: UInt8, _ position: inout Int) throws(InletError) {
        position += 1
        trailerBytes += 1
        guard line.count < Self.longestLine, trailerBytes <= Self.longestBody else { throw Self.tooLong }
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            return
        }
        var text = line[...]
        if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
        defer { line.removeAll(keepingCapacity: true) }
        switch framing {
        case .chunkEnd:
            guard text.isEmpty else { throw Self.damaged }
            framing = .chunkLine
        case .chunkLine:
            // Extensions may follow the length.
            let digits = TextBytes.trimmed(text.prefix { $0 != UInt8(ascii: ";") })
            guard let length = HeaderText.hexadecimal32(digits) else { throw Self.damaged }
            guard length <= Self.longestBody else { throw Self.tooLong }
            framing = length == 0 ? .trailers : .chunk(Int(length))
        case .trailers: if text.isEmpty { framing = .complete }
        case .head, .length, .chunk, .untilEnd, .complete: break
        }
    }

    private static let tooLong = InletError(
        .malformedData, "The device's answer has more than \(longestBody >> 10) KiB.")
    private static let damaged = InletError(.malformedData, "The device's answer has a damaged chunk.")
}
