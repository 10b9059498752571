package import InletCore

/// A value of a configuration as written in YAML or JSON, with its place in the text.
package struct ConfigurationNode: Sendable {
    /// The position of a value in the text.
    package struct Place: Sendable, Hashable {
        /// The line, starting at 1; 0 if the value was not read from a text.
        package var line: Int
        /// The column in characters, starting at 1; 0 if it is unknown.
        package var column: Int

        package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }
        /// The place of a value that was not read from a text.
        package static let none = Place(line: 0, column: 0)
    }

    /// A key of an object and its value.
    package struct Member: Sendable {
        package var key: String
        package var place: Place
        package var value: ConfigurationNode
    }

    /// The content of a value.
    package enum Content: Sendable {
        /// An empty value, `null` or `~`.
        case empty
        /// A text, a number, true or false, as written.
        case scalar(String)
        case list([ConfigurationNode])
        /// Members in the order written. No key occurs twice.
        case object([Member])
    }

    package var content: Content
    package var place: Place
    /// The type of a scalar that JSON writes without quotation marks. Nil for text, and for a scalar of YAML, whose
    /// type is not certain.
    package var type: ScalarRule.JSONType?

    package init(_ content: Content, at place: Place = .none, type: ScalarRule.JSONType? = nil) {
        (self.content, self.place, self.type) = (content, place, type)
    }

    /// The kind of the value in words, for errors.
    var kind: String {
        switch content {
        case .empty: "nothing"
        case .scalar: "a single value"
        case .list: "a list"
        case .object: "keys with values"
        }
    }

    /// The text, if it is a scalar.
    package var scalar: String? { if case .scalar(let text) = content { text } else { nil } }
    /// The members, if it is an object; none otherwise.
    package var members: [Member] { if case .object(let members) = content { members } else { [] } }
    /// The elements, if it is a list; none otherwise.
    package var elements: [ConfigurationNode] { if case .list(let elements) = content { elements } else { [] } }

    /// Returns the value of a key; nil if the node is not an object, or if the key is missing or has no value.
    package subscript(key: String) -> ConfigurationNode? {
        guard let value = members.first(where: { $0.key.isSameBytes(as: key) })?.value else { return nil }
        if case .empty = value.content { return nil }
        return value
    }
}

extension ConfigurationNode {
    /// Makes the node of a JSON value.
    package init(_ value: JSONValue) {
        let place = Place(line: value.line, column: 0)
        switch value.content {
        case .null: self.init(.empty, at: place)
        case .boolean(let isTrue): self.init(.scalar(isTrue ? "true" : "false"), at: place, type: .boolean)
        case .number(let text):
            self.init(.scalar(text), at: place, type: text.isASCIIDigits ? .integer : .number)
        case .string(let text): self.init(.scalar(text), at: place)
        case .array(let elements): self.init(.list(elements.map(ConfigurationNode.init)), at: place)
        case .object(let members):
            self.init(
                .object(
                    members.map {
                        Member(
                            key: $0.key, place: Place(line: $0.value.line, column: 0),
                            value: ConfigurationNode($0.value))
                    }), at: place)
        }
    }
}
