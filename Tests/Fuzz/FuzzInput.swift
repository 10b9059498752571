/// The bytes of a fuzzer's input, read in order as numbers and pieces.
///
/// At the end, numbers are 0 and pieces are empty, so that every input is valid.
struct FuzzInput {
    private let bytes: [UInt8]
    private var position = 0

    /// Copies the input, so that AddressSanitizer detects a read beyond its end.
    init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether all bytes have been read.
    var isAtEnd: Bool { position >= bytes.count }

    /// Returns the next byte.
    mutating func byte() -> UInt8 {
        guard !isAtEnd else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    /// Returns the next two bytes as a number in network order.
    mutating func number16() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// Returns the next four bytes as a number in network order.
    mutating func number32() -> UInt32 { UInt32(number16()) << 16 | UInt32(number16()) }

    /// Returns the next bytes, fewer at the end.
    mutating func piece(_ count: Int) -> [UInt8] {
        let end = min(position + max(0, count), bytes.count)
        defer { position = end }
        return Array(bytes[position..<end])
    }

    /// Returns the bytes up to the next NUL, which is skipped, or up to the end.
    mutating func text() -> [UInt8] {
        let text = Array(bytes[position...].prefix { $0 != 0 })
        position = min(position + text.count + 1, bytes.count)
        return text
    }

    /// Returns the remaining bytes.
    mutating func rest() -> [UInt8] { piece(bytes.count) }
}

/// Ends the process with a message, which the fuzzer reports with the input, unless the condition holds.
func demand(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
    // The message of `precondition` is dropped from optimized code.
    if !condition() { fatalError(message()) }
}

extension [UInt8] {
    /// Whether the bytes of a literal occur in these.
    func holds(_ word: StaticString) -> Bool {
        let word = Array(word.description.utf8)
        guard let first = word.first, count >= word.count else { return false }
        for start in 0...count - word.count where self[start] == first {
            if self[start..<start + word.count].elementsEqual(word) { return true }
        }
        return false
    }
}
