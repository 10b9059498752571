import Synchronization

/// The parts of Swift source that a rule needs: the code without its comments and the contents of its strings.
///
/// A simple parser that keeps the lines: every line of ``code`` has the number that it has in the file.
enum SwiftText {
    /// The text with comments and string contents replaced by spaces. The contents of `\( )` inside a string are
    /// blanked, too.
    ///
    /// Several rules check each file, which is read once.
    static func code(of text: String) -> String {
        if let code = known.withLock({ $0[text] }) { return code }
        let code = withoutCommentsAndStrings(text)
        known.withLock { $0[text] = code }
        return code
    }

    private static let known = Mutex<[String: String]>([:])

    private static func withoutCommentsAndStrings(_ text: String) -> String {
        var reader = SwiftTextReader(text)
        while !reader.isAtEnd { reader.readCode() }
        return String(decoding: reader.result, as: UTF8.self)
    }

    /// The words of a line: runs of letters, digits and underscores. Every byte outside ASCII counts as a letter.
    static func words(of line: some StringProtocol) -> [Substring] {
        Substring(line).utf8.split { !($0.isWordByte) }.map { Substring($0) }
    }
}

/// Reads Swift source as bytes: several times as fast as by characters.
private struct SwiftTextReader {
    private let bytes: [UInt8]
    private var place = 0
    private(set) var result: [UInt8] = []

    init(_ text: String) {
        bytes = Array(text.utf8)
        result.reserveCapacity(bytes.count)
    }

    var isAtEnd: Bool { place == bytes.count }

    /// Reads one byte of code, or a whole comment or string, which it blanks.
    mutating func readCode() {
        let byte = bytes[place]
        if byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "#") {
            result.append(byte)
            place += 1
        } else if has("//") {
            blank(to: bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count)
        } else if has("/*") {
            var end = place + 2
            while end < bytes.count, !has("*/", at: end) { end += 1 }
            blank(to: min(end + 2, bytes.count))
        } else if let delimiter = stringDelimiter(at: place) {
            let end = endOfString(at: place, delimiter)
            result.append(UInt8(ascii: "\""))
            blank(to: end)
            result.append(UInt8(ascii: "\""))
        } else {
            result.append(byte)
            place += 1
        }
    }

    /// Advances to a place and keeps only line ends.
    private mutating func blank(to end: Int) {
        while place < end {
            if bytes[place] == UInt8(ascii: "\n") { result.append(bytes[place]) }
            place += 1
        }
    }

    private func has(_ text: String, at place: Int? = nil) -> Bool {
        bytes[(place ?? self.place)...].starts(with: text.utf8)
    }

    /// The number of `#` before the quotes that open a string at a place, and the number of quotes; nil if no string
    /// starts there.
    private func stringDelimiter(at place: Int) -> (hashes: Int, quotes: Int)? {
        let hashes = bytes[place...].prefix { $0 == UInt8(ascii: "#") }.count
        guard has("\"", at: place + hashes) else { return nil }
        return (hashes, has("\"\"\"", at: place + hashes) ? 3 : 1)
    }

    private func isRun(of byte: UInt8, _ count: Int, at place: Int) -> Bool {
        bytes[min(place, bytes.count)...].prefix(count).count { $0 == byte } == count
    }

    private func endOfString(at start: Int, _ delimiter: (hashes: Int, quotes: Int)) -> Int {
        var place = start + delimiter.hashes + delimiter.quotes
        while place < bytes.count {
            let byte = bytes[place]
            if byte != UInt8(ascii: "\\"), byte != UInt8(ascii: "\"") {
                place += 1
            } else if byte == UInt8(ascii: "\\"), isRun(of: UInt8(ascii: "#"), delimiter.hashes, at: place + 1) {
                place += 1 + delimiter.hashes
                place = has("(", at: place) ? endOfInterpolation(at: place) : place + 1
            } else if isRun(of: UInt8(ascii: "\""), delimiter.quotes, at: place),
                isRun(of: UInt8(ascii: "#"), delimiter.hashes, at: place + delimiter.quotes)
            {
                return place + delimiter.quotes + delimiter.hashes
            } else {
                place += 1
            }
        }
        return bytes.count
    }

    private func endOfInterpolation(at start: Int) -> Int {
        var (place, depth) = (start, 0)
        while place < bytes.count {
            if let delimiter = stringDelimiter(at: place) {
                place = endOfString(at: place, delimiter)
                continue
            }
            if bytes[place] == UInt8(ascii: "(") { depth += 1 }
            if bytes[place] == UInt8(ascii: ")") { depth -= 1 }
            place += 1
            if depth == 0 { break }
        }
        return place
    }
}

extension UInt8 {
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
