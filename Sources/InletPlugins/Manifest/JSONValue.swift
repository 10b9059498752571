/// A value of a JSON text, as it was written: keys in order, numbers as text.
struct JSONValue: Sendable, Hashable {
    /// What the value is.
    enum Content: Sendable, Hashable {
        case null
        case boolean(Bool)
        /// A number by the grammar of RFC 8259, section 6, as text.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// Members in the order written; no key occurs twice.
        case object([JSONMember])
    }

    let content: Content
    /// The line on which it begins, from 1 on.
    let line: Int

    /// The kind of the value in words, for errors.
    var kind: String {
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
    var members: [JSONMember]? { if case .object(let members) = content { members } else { nil } }

    /// The elements, if the value is an array.
    var elements: [JSONValue]? { if case .array(let elements) = content { elements } else { nil } }

    /// The text, if the value is a string.
    var text: String? { if case .string(let text) = content { text } else { nil } }

    /// The number as text, if the value is a number.
    var number: String? { if case .number(let text) = content { text } else { nil } }
}
