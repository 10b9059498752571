import InletCore

/// One thing that is wrong in a configuration: where, and what to write instead.
package struct ConfigurationProblem: Error, Sendable, Hashable {
    package var place: ConfigurationNode.Place
    /// The keys that lead to the value, such as `cameras.door.retry`; empty for the whole text.
    package var path: String
    /// A sentence that says what is wrong and what to write. It holds no secret.
    package var message: String

    /// - Parameter message: it may quote the text; control characters are written as escapes.
    package init(_ message: String, at place: ConfigurationNode.Place, path: String = "") {
        (self.place, self.path, self.message) = (place, path.sanitized(), message.sanitized(limit: 2048))
    }
}

extension ConfigurationProblem: CustomStringConvertible {
    /// The problem as `line 3, column 5: cameras.door: ...`.
    package var description: String {
        var parts: [String] = []
        if place.line > 0 {
            parts.append(place.column > 0 ? "line \(place.line), column \(place.column)" : "line \(place.line)")
        }
        if !path.isEmpty { parts.append(path) }
        return (parts + [message]).joined(separator: ": ")
    }
}

/// Everything that is wrong in a configuration; never empty.
package struct ConfigurationProblems: Error, Sendable, CustomStringConvertible {
    /// The problems in the order of the text; at most ``most``, so that a hostile text has no long answer.
    package let list: [ConfigurationProblem]
    /// The most problems that are told.
    package static let most = 100

    package init(_ problems: [ConfigurationProblem]) {
        list = Array(
            problems.sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }.prefix(Self.most))
    }

    /// One problem a line.
    package var description: String { list.map(\.description).joined(separator: "\n") }
}
