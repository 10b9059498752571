import InletCore

/// The rule for names of cameras, which appear in file paths, URLs, metric labels and logs.
package enum CameraName {
    /// The maximum number of bytes of a name.
    package static let longest = 63

    /// Returns whether a text is a name: lower-case letters, digits, hyphens and underscores, beginning with a letter
    /// or digit.
    package static func isValid(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= longest else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return isLetter(first)
            && text.utf8.allSatisfy { isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// The rule for configurations.
    package static let rule = ScalarRule(
        "1 to \(longest) characters of a-z, 0-9, - and _, beginning with a letter or a digit, such as front-door",
        pattern: "[a-z0-9][a-z0-9_-]{0,\(longest - 1)}", isValid: isValid)
}
