/// One JSON line to or from a test server.
public typealias PeerMessage = [String: PeerValue]

/// A value of a ``PeerMessage``.
public enum PeerValue: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case list([PeerValue])
    case object([String: PeerValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([PeerValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: PeerValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The number if it is an integer.
    public var int: Int? {
        if case .number(let value) = self { Int(exactly: value) } else { nil }
    }

    /// The string, or the text form of another value.
    public var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int(exactly: value).map { "\($0)" } ?? "\(value)"
        case .string(let value): value
        case .list(let value): "[\(value.map(\.text).joined(separator: ", "))]"
        case .object(let value):
            "{\(value.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }.joined(separator: ", "))}"
        }
    }

    /// A member of an object.
    public subscript(name: String) -> PeerValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}

extension PeerValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
