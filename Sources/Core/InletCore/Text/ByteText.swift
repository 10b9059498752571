/// Functions that read text from outside as bytes.
///
/// `String` compares by canonical equivalence and iterates by grapheme clusters, which no protocol does: U+037E equals
/// `;`, a `:` followed by a combining accent is not a `:`, U+2028 is a newline and U+0660 a digit. Such text would mean
/// something else to this program than to the library that reads the same bytes. Text from a network, a file, a device
/// or a stranger's URI is therefore examined through these functions, through `utf8`, or as `[UInt8]`. `ByteTextRule`
/// of `HouseTests` forbids the other ways.
///
/// Separators and prefixes are ASCII, so that the parts are valid text again.
extension StringProtocol where UTF8View: BidirectionalCollection {
    /// Whether the text begins with these bytes.
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with these bytes.
    package func hasByteSuffix(_ suffix: String) -> Bool { utf8.reversed().starts(with: suffix.utf8.reversed()) }

    /// Whether the two texts are the same bytes.
    package func isSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether the text contains these bytes.
    package func containsBytes(_ text: String) -> Bool { firstRange(ofBytes: text) != nil }

    /// Whether the text contains the byte of an ASCII character.
    package func contains(byte: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: byte)) }

    /// Returns the first index of the byte of an ASCII character.
    package func firstIndex(ofByte byte: Unicode.Scalar) -> Index? { utf8.firstIndex(of: UInt8(ascii: byte)) }

    /// Returns the last index of the byte of an ASCII character.
    package func lastIndex(ofByte byte: Unicode.Scalar) -> Index? { utf8.lastIndex(of: UInt8(ascii: byte)) }

    /// Returns the first range of these bytes.
    package func firstRange(ofBytes text: String) -> Range<Index>? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first else { return startIndex..<startIndex }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: wanted) { return start..<utf8.index(start, offsetBy: wanted.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Returns the text up to the first byte that does not fulfil the condition.
    package func prefix(whileByte isIn: (UInt8) -> Bool) -> SubSequence {
        self[..<(utf8.firstIndex { !isIn($0) } ?? endIndex)]
    }

    /// Returns the text up to the byte of an ASCII character, or all of it.
    package func prefix(upToByte byte: Unicode.Scalar) -> SubSequence {
        self[..<(firstIndex(ofByte: byte) ?? endIndex)]
    }

    /// Returns the parts between the bytes of an ASCII character.
    ///
    /// - Parameters:
    ///   - limit: the most times that the text is split.
    ///   - keepsEmpty: whether empty parts are included. The default is true.
    package func split(
        atByte byte: Unicode.Scalar, limit: Int = .max, keepsEmpty: Bool = true
    ) -> [SubSequence] {
        utf8.split(separator: UInt8(ascii: byte), maxSplits: limit, omittingEmptySubsequences: !keepsEmpty)
            .map { self[$0.startIndex..<$0.endIndex] }
    }

    /// Returns the text without the bytes at both ends that fulfil the condition; by default spaces, tabs and line
    /// ends.
    package func trimmed(whereByte isOut: (UInt8) -> Bool = \.isASCIISpace) -> SubSequence {
        guard let first = utf8.firstIndex(where: { !isOut($0) }), let last = utf8.lastIndex(where: { !isOut($0) })
        else {
            return self[endIndex...]
        }
        return self[first..<utf8.index(after: last)]
    }

    /// The text with the letters A to Z in lower case, and everything else unchanged.
    package var lowercasedASCII: String {
        String(decoding: utf8.map(\.lowercasedASCII), as: UTF8.self)
    }

    /// The text with the letters a to z in upper case, and everything else unchanged.
    package var uppercasedASCII: String {
        String(
            decoding: utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
    }

    /// Whether the text is one or more of the digits 0 to 9.
    package var isASCIIDigits: Bool { !isEmpty && utf8.allSatisfy(\.isASCIIDigit) }
}

extension UInt8 {
    /// Whether it is one of 0 to 9.
    package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether it is one of A to Z or a to z.
    package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// Whether it is a space, a tab or one of the bytes that end a line.
    package var isASCIISpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    /// The letter in lower case; anything else unchanged.
    package var lowercasedASCII: UInt8 { isASCIILetter ? self | 0x20 : self }

    /// The value of the byte as a hexadecimal digit; nil if it is not one.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
