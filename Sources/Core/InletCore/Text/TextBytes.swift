/// Functions for text from outside that is a collection of bytes. For text that is a `String` see `ByteText.swift`,
/// which explains why it is handled as bytes.
package enum TextBytes {
    /// Returns the lines of a text, without their ends, which are LF, CR, or both. Empty lines are omitted.
    package static func lines(_ text: some Collection<UInt8>) -> [[UInt8]] {
        text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map { Array($0) }
    }

    /// Returns the bytes with A to Z in lower case.
    package static func lowercased(_ text: some Sequence<UInt8>) -> [UInt8] { text.map(\.lowercasedASCII) }

    /// Whether two texts differ only in the case of A to Z.
    package static func isSame(_ text: some Sequence<UInt8>, ignoringCase other: StaticString) -> Bool {
        text.elementsEqual("\(other)".utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    /// Returns the text without spaces and tabs around it.
    package static func trimmed<Text: BidirectionalCollection<UInt8>>(_ text: Text) -> Text.SubSequence
    where Text.SubSequence: BidirectionalCollection<UInt8> {
        var rest = text[...]
        while let first = rest.first, isBlank(first) { rest = rest.dropFirst() }
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return rest
    }

    /// Returns the value of text that consists only of decimal digits; nil if it has no digits, too many or other
    /// characters.
    ///
    /// - Parameter most: the largest number that is accepted.
    package static func number(_ digits: some Collection<UInt8>, upTo most: Int = Int(UInt32.max)) -> Int? {
        guard !digits.isEmpty, digits.count <= 19 else { return nil }
        var number = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !overflow, sum <= most else { return nil }
            number = sum
        }
        return number
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
