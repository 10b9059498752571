import InletCore

/// Turns the JSON of a manifest into a ``PluginManifest`` and collects all errors on the way, so that an author sees
/// them all at once.
///
/// Each problem is a phrase that begins with the line and the path of the key, such as `line 7: sources[0].schemes`.
struct ManifestReader {
    private(set) var problems: [String] = []

    /// Notes a problem.
    ///
    /// - Parameters:
    ///   - value: the place of the problem.
    ///   - path: the path of the key; empty for the manifest itself.
    ///   - text: the problem and its correction.
    mutating func report(_ value: JSONValue, _ path: String, _ text: String) {
        let place = path.isEmpty ? "" : "\(path): "
        problems.append("line \(value.line): \(place)\(text)".sanitized(limit: 400))
    }

    /// Returns the members of an object by key, after reporting those that are unknown or missing; nil if the value is
    /// no object.
    mutating func object(
        _ value: JSONValue, _ path: String, required: [String], optional: [String] = []
    ) -> [String: JSONValue]? {
        guard let members = value.members else {
            report(value, path, "it is \(value.kind); write an object in braces")
            return nil
        }
        let known = required + optional
        var found: [String: JSONValue] = [:]
        for member in members {
            guard let key = known.first(where: { $0.isSameBytes(as: member.key) }) else {
                let hint = Spelling.nearest(to: String(member.key.prefix(64)), among: known)
                let advice = hint.map { "write \"\($0)\"" } ?? "leave it out; known are \(Self.list(known))"
                report(member.value, Self.join(path, member.key), "there is no such key; \(advice)")
                continue
            }
            found[key] = member.value
        }
        for key in required where found[key] == nil {
            report(value, Self.join(path, key), "it is missing")
        }
        return found
    }

    /// Returns the elements of a list; an absent value is an empty list.
    mutating func list(_ value: JSONValue?, _ path: String, most: Int) -> [JSONValue] {
        guard let value else { return [] }
        guard let elements = value.elements else {
            report(value, path, "it is \(value.kind); write a list in brackets")
            return []
        }
        guard elements.count <= most else {
            report(value, path, "it has \(elements.count) elements; at most \(most) are allowed")
            return []
        }
        return elements
    }

    /// Returns text of at least one and at most `longest` bytes that a terminal shows as it is.
    mutating func text(_ value: JSONValue?, _ path: String, longest: Int) -> String? {
        guard let value else { return nil }
        guard let text = value.text else {
            report(value, path, "it is \(value.kind); write text in quotation marks")
            return nil
        }
        guard !text.isEmpty else {
            report(value, path, "it is empty; write some text")
            return nil
        }
        guard text.utf8.count <= longest else {
            report(value, path, "it has \(text.utf8.count) bytes; at most \(longest) are allowed")
            return nil
        }
        guard text.sanitized(limit: longest).isSameBytes(as: text) else {
            report(value, path, "it holds control or formatting characters; write plain text")
            return nil
        }
        return text
    }

    /// Returns text that fulfils a condition.
    ///
    /// - Parameter advice: the correction.
    mutating func text(
        _ value: JSONValue?, _ path: String, longest: Int, _ advice: String, where isAllowed: (String) -> Bool
    ) -> String? {
        guard let value, let text = text(value, path, longest: longest) else { return nil }
        guard isAllowed(text) else {
            report(value, path, "\"\(text)\" is not allowed; \(advice)")
            return nil
        }
        return text
    }

    /// Returns the path of a key within an object.
    static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private static func list(_ words: [String]) -> String { words.map { "\"\($0)\"" }.joined(separator: ", ") }

    /// Whether a text begins with a lower-case letter and otherwise consists of such letters, digits and the `others`.
    static func isName(_ text: String, also others: String = "-", firstDigit: Bool = false) -> Bool {
        func isLower(_ byte: UInt8) -> Bool { byte.isASCIILetter && byte & 0x20 != 0 }
        guard let first = text.utf8.first, isLower(first) || firstDigit && first.isASCIIDigit else { return false }
        return text.utf8.allSatisfy { isLower($0) || $0.isASCIIDigit || others.utf8.contains($0) }
    }
}
