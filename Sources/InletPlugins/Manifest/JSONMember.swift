/// A key of a JSON object with its value.
struct JSONMember: Sendable, Hashable {
    let key: String
    let value: JSONValue
}
