import InletCore

/// A problem of a configuration: its place, and the value to write instead.
package struct ConfigurationProblem: Error, Sendable, Hashable {
    package var place: ConfigurationNode.Place
    /// The keys that lead to the value, such as `cameras.door.retry`; empty for the whole text.
    package var path: String
    /// A sentence that states the problem and the value to write. It contains no secret.
    package var message: String
    /// The message for clients that may not see all cameras; nil for the same message.
    package var limitedMessage: String?

    /// - Parameters:
    ///   - message: may quote the text. Control characters are escaped.
    ///   - limitedMessage: the message for clients that may not see all cameras, if the full one mentions other
    ///     cameras.
    package init(
        _ message: String, at place: ConfigurationNode.Place, path: String = "", limited limitedMessage: String? = nil
    ) {
        (self.place, self.path, self.message) = (place, path.sanitized(), message.sanitized(limit: 2048))
        self.limitedMessage = limitedMessage
    }

    /// Returns the problem for clients that may see only some cameras. It names no other camera.
    package func told(to visible: CameraFilter) -> ConfigurationProblem {
        guard visible.isLimited else { return self }
        var told = self
        (told.message, told.limitedMessage) = (limitedMessage ?? message, nil)
        let keys = path.split(atByte: ".")
        if path.hasBytePrefix("cameras."), !visible.allows(String(keys[1])) {
            (told.place, told.path) = (.none, "cameras")
            told.message = limitedMessage ?? "Another camera has invalid settings."
        }
        return told
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

/// All problems of a configuration; never empty.
package struct ConfigurationProblems: Error, Sendable, CustomStringConvertible {
    /// The problems in the order of the text. There are at most ``most``, so that a hostile text cannot cause a long
    /// answer.
    package let list: [ConfigurationProblem]
    /// The maximum number of problems that are reported.
    package static let most = 100

    package init(_ problems: [ConfigurationProblem]) {
        list = Array(
            problems.sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }.prefix(Self.most))
    }

    /// The problems, one per line.
    package var description: String { list.map(\.description).joined(separator: "\n") }
}
