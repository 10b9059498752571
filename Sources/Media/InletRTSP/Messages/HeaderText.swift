import InletCore

/// Functions that take the values of headers and SDP attributes apart, as bytes.
enum HeaderText {
    /// Returns the parts between the separators, trimmed. A separator within double quotes does not count, unless the
    /// quotes are never closed.
    ///
    /// - Parameter limit: the most parts that are returned; the rest of the text is dropped.
    static func split(_ text: some Collection<UInt8>, at separator: Unicode.Scalar, limit: Int = 256) -> [[UInt8]] {
        let separator = UInt8(ascii: separator)
        let bytes = Array(text)
        // Behind an odd number of quotes the last one is ordinary text.
        let quotes = bytes.count { $0 == UInt8(ascii: "\"") }
        let lastQuote = quotes.isMultiple(of: 2) ? nil : bytes.lastIndex(of: UInt8(ascii: "\""))
        var parts: [[UInt8]] = []
        var start = 0
        var isQuoted = false
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\""), index != lastQuote {
                isQuoted.toggle()
            } else if bytes[index] == separator, !isQuoted {
                parts.append(Array(TextBytes.trimmed(bytes[start..<index])))
                start = index + 1
                if parts.count >= limit { return parts }
            }
        }
        parts.append(Array(TextBytes.trimmed(bytes[start...])))
        return parts
    }

    /// Returns a `name=value` pair, both trimmed, the value without its quotes. The value is nil if there is no `=`.
    static func pair(_ text: some BidirectionalCollection<UInt8>) -> (name: [UInt8], value: [UInt8]?) {
        let bytes = Array(text)
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            return (Array(TextBytes.trimmed(bytes)), nil)
        }
        return (
            Array(TextBytes.trimmed(bytes[..<equals])), unquoted(TextBytes.trimmed(bytes[(equals + 1)...]))
        )
    }

    /// Returns the text without a pair of double quotes around it, and with `\"` and `\\` inside them replaced by the
    /// second character (RFC 2616, section 2.2).
    static func unquoted(_ text: some BidirectionalCollection<UInt8>) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        guard text.count >= 2, text.first == quote, text.last == quote else { return Array(text) }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
                continue
            }
            result.append(byte)
            isEscaped = false
        }
        return result
    }

    /// Returns the value of text that consists only of up to eight hexadecimal digits.
    static func hexadecimal32(_ digits: some Collection<UInt8>) -> UInt32? {
        guard !digits.isEmpty, digits.count <= 8 else { return nil }
        var number: UInt32 = 0
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            number = number << 4 | UInt32(value)
        }
        return number
    }

    /// Returns the bytes that pairs of hexadecimal digits state; nil if there is anything else.
    static func hexadecimalBytes(_ digits: [UInt8]) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns the value of a decimal number that may have a fraction, such as `29.97`; nil for anything else and for
    /// more than nine digits on either side of the point.
    static func decimal(_ text: some Collection<UInt8>) -> Double? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.count <= 9, let whole = TextBytes.number(first) else { return nil }
        guard parts.count == 2, let fraction = parts.last, !fraction.isEmpty else { return Double(whole) }
        guard let digits = TextBytes.number(fraction.prefix(9)), fraction.allSatisfy(\.isASCIIDigit) else { return nil }
        var divisor = 1.0
        for _ in fraction.prefix(9) { divisor *= 10 }
        return Double(whole) + Double(digits) / divisor
    }

    /// Returns the parts before and after the first such byte; nil if the text has no such byte.
    static func halves(
        _ text: some Collection<UInt8>, at separator: Unicode.Scalar
    ) -> (first: [UInt8], second: [UInt8])? {
        let bytes = Array(text)
        guard let index = bytes.firstIndex(of: UInt8(ascii: separator)) else { return nil }
        return (Array(bytes[..<index]), Array(bytes[(index + 1)...]))
    }
}
