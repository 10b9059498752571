/// A key of a JSON object with its value.
package struct JSONMember: Sendable, Hashable {
    /// The key, without its escapes.
    package let key: String
    /// The value after the colon.
    package let value: JSONValue

    package init(key: String, value: JSONValue) {
        self.key = key
        self.value = value
    }
}
