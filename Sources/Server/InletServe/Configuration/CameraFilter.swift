import InletCore

/// The cameras that a client may see: all, or those whose names match one of several patterns. Pure.
package struct CameraFilter: Sendable, Hashable {
    /// Patterns of names, in which `*` matches any characters, including none; nil for all cameras.
    package let patterns: [String]?

    /// All cameras.
    package static let all = CameraFilter(patterns: nil)

    package init(patterns: [String]?) { self.patterns = patterns }

    /// Whether any camera is hidden.
    package var isLimited: Bool { patterns != nil }

    /// Returns whether a camera is visible.
    package func allows(_ name: String) -> Bool {
        guard let patterns else { return true }
        return patterns.contains { Self.matches(Array($0.utf8), Array(name.utf8)) }
    }

    /// Takes time proportional to the product of both lengths at most, whatever the pattern.
    private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
        var (place, index) = (0, 0)
        /// The place to continue if the text after the last star does not match: after that star, one character later.
        var retry: (place: Int, index: Int)?
        while index < name.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                place += 1
                retry = (place, index)
            } else if place < pattern.count, pattern[place] == name[index] {
                (place, index) = (place + 1, index + 1)
            } else if let last = retry {
                retry = (last.place, last.index + 1)
                (place, index) = (last.place, last.index + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

extension ScalarRule {
    /// The name of a camera, or a pattern of names.
    static let cameraPattern = ScalarRule(
        "the name of a camera such as door, with * for any characters", pattern: "[a-z0-9*][a-z0-9_*-]{0,62}"
    ) { text in
        guard let first = text.utf8.first, (1...63).contains(text.utf8.count) else { return false }
        func isNamed(_ byte: UInt8) -> Bool {
            byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "*")
        }
        return isNamed(first)
            && text.utf8.allSatisfy { isNamed($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
}
