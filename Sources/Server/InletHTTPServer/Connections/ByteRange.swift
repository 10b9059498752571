import InletCore

/// The bytes that a client requests with the header `Range` (RFC 9110, 14.2). Pure.
package enum ByteRange: Equatable, Sendable {
    /// All bytes: the request has no range, or an unsupported one, such as several ranges, which a server may ignore.
    case whole
    /// A part of the bytes; never empty.
    case part(Range<Int>)
    /// No bytes: the range begins after the last byte (status 416).
    case unsatisfiable

    /// - Parameters:
    ///   - header: the header's value; nil if the request has no such header.
    ///   - count: the total number of bytes.
    package init(_ header: String?, of count: Int) {
        guard let text = header?.utf8, TextBytes.isSame(text.prefix(6), ignoringCase: "bytes=") else {
            self = .whole
            return
        }
        let range = TextBytes.trimmed(text.dropFirst(6))
        let ends = range.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else {
            self = .whole
            return
        }
        let (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
        switch (first, last) {
        case (nil, let last?) where ends[0].isEmpty:
            // A suffix range: the last N bytes.
            self = last > 0 && count > 0 ? .part(max(0, count - last)..<count) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < count ? .part(first..<count) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
        default: self = .whole
        }
    }

    /// Returns a number; the largest Int if it does not fit into one.
    private static func number(_ text: some Collection<UInt8>) -> Int? {
        guard !text.isEmpty, text.allSatisfy(\.isASCIIDigit) else { return nil }
        return TextBytes.number(text, upTo: .max) ?? .max
    }
}
