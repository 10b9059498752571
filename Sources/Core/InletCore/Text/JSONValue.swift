/// A value of a JSON text, as it was written: keys in order, numbers as text.
package struct JSONValue: Sendable, Hashable {
    /// The content of the value.
    package enum Content: Sendable, Hashable {
        case null
        case boolean(Bool)
        /// A number by the grammar of RFC 8259, section 6, as text.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// Members in the order written; no key occurs twice.
        case object([JSONMember])
    }

    package let content: Content
    /// The line on which it begins, from 1 on; 0 if it was not read from a text.
    package let line: Int

    package init(content: Content, line: Int) {
        self.content = content
        self.line = line
    }

    /// The kind of the value in words, for errors.
    package var kind: String {
        switch content {
        case .null: "null"
        case .boolean: "true or false"
        case .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// The members, if the value is an object.
    package var members: [JSONMember]? { if case .object(let members) = content { members } else { nil } }

    /// The elements, if the value is an array.
    package var elements: [JSONValue]? { if case .array(let elements) = content { elements } else { nil } }

    /// The text, if the value is a string.
    package var text: String? { if case .string(let text) = content { text } else { nil } }

    /// The number as text, if the value is a number.
    package var number: String? { if case .number(let text) = content { text } else { nil } }
}
