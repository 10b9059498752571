import InletCore

/// The values that are allowed at a place of a configuration. This single description is used by the reader to check a
/// text, and to make the JSON Schema.
package indirect enum ConfigurationShape: Sendable {
    case scalar(ScalarRule)
    /// - Parameter most: the maximum number of elements.
    case list(ConfigurationShape, most: Int)
    /// Known keys, each at most once.
    case object([ConfigurationKey])
    /// Names that follow a rule, with values of one shape.
    ///
    /// - Parameters:
    ///   - what: the kind of thing that has the names, such as `camera`, for errors.
    ///   - most: the maximum number of names.
    case map(what: String, names: ScalarRule, ConfigurationShape, most: Int)
    /// A scalar as a short form, or the same value with more keys.
    case scalarOrObject(ScalarRule, [ConfigurationKey])
}

/// A key of an object in a configuration.
package struct ConfigurationKey: Sendable {
    package var name: String
    /// The key's purpose, in a phrase.
    package var summary: String
    package var shape: ConfigurationShape
    package var isRequired: Bool
    /// The default, in words or as it would be written; nil if the key has no default.
    package var defaultText: String?
    /// The key with its value, for the error of a value of the wrong kind; nil if a list of the keys is enough.
    package var example: String?
    /// Keys of other programs with the same purpose, for the error of an unknown key.
    package var synonyms: [String]

    package init(
        _ name: String, _ summary: String, default defaultText: String? = nil, isRequired: Bool = false,
        example: String? = nil, synonyms: [String] = [], _ shape: ConfigurationShape
    ) {
        (self.name, self.summary, self.shape) = (name, summary, shape)
        (self.defaultText, self.isRequired) = (defaultText, isRequired)
        (self.example, self.synonyms) = (example, synonyms)
    }

    /// The error text for a value of another kind, if the key has an example.
    fileprivate func form(insteadOf value: ConfigurationNode) -> String? {
        guard let example, case .object = shape else { return nil }
        switch value.content {
        case .object, .empty: return nil
        case .scalar, .list: break
        }
        return "There is \(value.kind) here. Write keys with values, such as '\(example)'."
    }
}

/// The rule for a single value.
package struct ScalarRule: Sendable {
    /// The accepted values, as the end of "must be ...", with an example.
    package var description: String
    /// The values that a JSON Schema allows: texts that match this regular expression of ECMA 262 as a whole; nil if
    /// any text is accepted.
    package var pattern: String?
    /// The types of JSON that are accepted as well as text.
    package var types: Set<JSONType>
    /// All accepted values. An error suggests the nearest one, or lists all. Empty if there are too many to list.
    package var names: [String] = []
    /// Whether an error may quote the value.
    package var isQuotable: Bool
    /// Whether a text is accepted.
    package var isValid: @Sendable (String) -> Bool

    /// A type of JSON other than text.
    package enum JSONType: String, Sendable, CaseIterable {
        case boolean, integer, number
    }

    package init(
        _ description: String, pattern: String? = nil, types: Set<JSONType> = [], isQuotable: Bool = true,
        isValid: @escaping @Sendable (String) -> Bool
    ) {
        (self.description, self.pattern, self.types) = (description, pattern, types)
        (self.isQuotable, self.isValid) = (isQuotable, isValid)
    }
}

extension ScalarRule {
    /// Whether a scalar of a type of JSON is accepted; nil is text.
    fileprivate func takes(_ type: JSONType?) -> Bool {
        guard let type else { return true }
        return types.contains(type) || type == .integer && types.contains(.number)
    }

    /// The shortest time from the last step back to the next one.
    fileprivate func hint(for text: String) -> String {
        guard !names.isEmpty else { return "" }
        return Spelling.nearest(to: String(text.prefix(64)), among: names).map { " Did you mean '\($0)'?" }
            ?? " Valid values are \(names.joined(separator: ", "))."
    }
}

extension ConfigurationShape {
    /// Appends all problems of a value, with their places.
    ///
    /// - Parameter path: the keys that lead to the value.
    package func check(_ node: ConfigurationNode, path: String, into problems: inout [ConfigurationProblem]) {
        switch (self, node.content) {
        case (.scalar(let rule), .scalar(let text)), (.scalarOrObject(let rule, _), .scalar(let text)):
            guard !rule.isValid(text) || !rule.takes(node.type) else { return }
            let shown = rule.isQuotable ? ", not '\(Self.shown(text))'" : ""
            problems.append(
                .init(
                    "The value must be \(rule.description)\(shown).\(rule.hint(for: text))", at: node.place,
                    path: path))
        case (.list(let element, let most), .list(let elements)):
            if elements.count > most {
                problems.append(.init("The list has more than \(most) elements.", at: node.place, path: path))
            }
            for (index, value) in elements.prefix(most).enumerated() {
                element.check(value, path: "\(path)[\(index)]", into: &problems)
            }
        case (.scalarOrObject(_, let keys), .object(let members)) where Self.isText(members, keys):
            problems.append(
                .init(
                    "Put text that ends in a colon in quotation marks: '\(Self.shown(members[0].key)):'.",
                    at: node.place, path: path))
        case (.object(let keys), .object(let members)), (.scalarOrObject(_, let keys), .object(let members)):
            Self.check(members, of: node, keys, path: path, into: &problems)
        case (.map(let what, let names, let shape, let most), .object(let members)):
            if members.count > most {
                problems.append(.init("There are more than \(most) \(what)s.", at: node.place, path: path))
            }
            for member in members.prefix(most) {
                let inner = Self.join(path, member.key)
                if !names.isValid(member.key) {
                    problems.append(
                        .init("The name of a \(what) must be \(names.description).", at: member.place, path: inner))
                }
                shape.check(member.value, path: inner, into: &problems)
            }
        case (_, .empty):
            problems.append(.init("The value is missing here. Write \(expected).", at: node.place, path: path))
        default:
            problems.append(
                .init("There is \(node.kind) here. Write \(expected).", at: node.place, path: path))
        }
    }

    /// Whether an object was probably meant to be text, such as `null:`.
    private static func isText(_ members: [ConfigurationNode.Member], _ keys: [ConfigurationKey]) -> Bool {
        guard members.count == 1, case .empty = members[0].value.content else { return false }
        return !keys.contains { $0.name.isSameBytes(as: members[0].key) }
    }

    private static func check(
        _ members: [ConfigurationNode.Member], of node: ConfigurationNode, _ keys: [ConfigurationKey], path: String,
        into problems: inout [ConfigurationProblem]
    ) {
        for member in members {
            let inner = join(path, member.key)
            if let key = keys.first(where: { $0.name.isSameBytes(as: member.key) }) {
                // An optional key without a value is treated as missing.
                if case .empty = member.value.content, !key.isRequired { continue }
                if let form = key.form(insteadOf: member.value) {
                    problems.append(.init(form, at: member.value.place, path: inner))
                    continue
                }
                key.shape.check(member.value, path: inner, into: &problems)
            } else {
                let hint =
                    meant(by: member.key, among: keys).map { "Did you mean '\($0)'?" }
                    ?? "Valid keys are \(keys.map(\.name).joined(separator: ", "))."
                problems.append(
                    .init(
                        "There is no key '\(shown(member.key))' here. \(hint)", at: member.place,
                        path: path))
            }
        }
        for key in keys where key.isRequired && !members.contains(where: { $0.key.isSameBytes(as: key.name) }) {
            problems.append(
                .init("The key '\(key.name)' is missing: \(key.summary).", at: node.place, path: path))
        }
    }

    /// Returns the key that was probably meant by an unknown one: a key with that synonym, one with nearly the same
    /// letters, or a key one level below with that synonym.
    private static func meant(by unknown: String, among keys: [ConfigurationKey]) -> String? {
        let unknown = String(unknown.prefix(64))
        func isMeant(_ key: ConfigurationKey) -> Bool { key.synonyms.contains { $0.isSameBytes(as: unknown) } }
        if let key = keys.first(where: isMeant) { return key.name }
        if let nearest = Spelling.nearest(to: unknown, among: keys.map(\.name)) { return nearest }
        for outer in keys {
            guard case .object(let inner) = outer.shape, let key = inner.first(where: isMeant) else { continue }
            return join(outer.name, key.name)
        }
        return nil
    }

    /// Returns a key or a value as errors quote it. An address in the wrong place may contain a password, which must be
    /// hidden before the text is cut.
    private static func shown(_ text: String) -> String { Redaction.redact(text).sanitized(limit: 80) }

    /// Returns a path with another key appended.
    package static func join(_ path: String, _ key: String) -> String {
        let key = shown(key)
        return path.isEmpty ? key : "\(path).\(key)"
    }

    /// The expected value, for errors.
    private var expected: String {
        switch self {
        case .scalar(let rule): rule.description
        case .list: "a list, with each element on its own line after '- '"
        case .object(let keys): "keys with values, such as \(Self.example(of: keys))"
        case .map(let what, _, _, _): "the name of a \(what), a colon and its value"
        case .scalarOrObject(let rule, let keys): "\(rule.description), or keys such as \(Self.example(of: keys))"
        }
    }

    private static func example(of keys: [ConfigurationKey]) -> String {
        keys.prefix(3).map { "'\($0.name):'" }.joined(separator: ", ")
    }
}
