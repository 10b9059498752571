/// Reads a capture from bytes that arrive in any pieces.
///
/// The caller appends bytes and takes all complete records before it appends more. The reader then keeps at most one
/// record and the last piece. A record whose end is missing, as after a crash, is never returned.
package struct CaptureReader: Sendable {
    /// The first line; nil until it is complete.
    package private(set) var header: CaptureHeader?
    private var bytes: [UInt8] = []
    private var position = 0
    private var lastTime: Int64 = 0

    package init() {}

    /// Whether the remaining bytes are an incomplete record.
    package var isTorn: Bool { position < bytes.count }

    /// Appends bytes.
    package mutating func append(_ more: some Sequence<UInt8>) {
        if position > 0 {
            bytes.removeFirst(position)
            position = 0
        }
        bytes += more
    }

    /// Returns the first line; nil until it is complete.
    package mutating func firstLine() throws(CaptureError) -> CaptureHeader? {
        _ = try readHeader()
        return header
    }

    /// Returns the next record; nil until more bytes come.
    ///
    /// A time before that of the previous record counts as equal to it.
    package mutating func next() throws(CaptureError) -> CaptureRecord? {
        guard try readHeader() else { return nil }
        guard bytes.count - position >= CaptureRecord.headLength else { return nil }
        let kind = bytes[position]
        let length = number(at: position + 4, count: 4)
        let most = CaptureRecord.Kind(rawValue: kind)?.longest ?? CaptureRecord.longestUnknown
        guard length <= UInt64(most) else { throw .recordTooLong(Int(clamping: length)) }
        let time = number(at: position + 8, count: 8)
        guard time <= UInt64(CaptureRecord.latest) else { throw .timeOutOfRange }
        let start = position + CaptureRecord.headLength
        guard bytes.count - start >= Int(length) else { return nil }
        let end = start + Int(length)
        lastTime = max(lastTime, Int64(time))
        let record = CaptureRecord(
            kind: kind, hasMore: bytes[position + 1] & CaptureRecord.moreFlag != 0, time: lastTime,
            bytes: Array(bytes[start..<end]))
        position = end
        return record
    }

    /// Reads the first line; returns false until it is complete.
    private mutating func readHeader() throws(CaptureError) -> Bool {
        guard header == nil else { return true }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            guard bytes.count < CaptureHeader.longest else { throw .notCapture }
            return false
        }
        guard end < CaptureHeader.longest else { throw .notCapture }
        header = try CaptureHeader(line: Array(bytes[..<end]))
        position = end + 1
        return true
    }

    private func number(at index: Int, count: Int) -> UInt64 {
        bytes[index..<(index + count)].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
