package import InletCore

extension JSONValue {
    /// Makes a value that was not read from a text.
    package init(_ content: Content) { self.init(content: content, line: 0) }

    /// The text of the value on one line, by RFC 8259. Numbers are written as in ``Content/number(_:)``.
    package var json: String {
        switch content {
        case .null: "null"
        case .boolean(let boolean): boolean ? "true" : "false"
        case .number(let number): number
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[\(elements.map(\.json).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.key)):\($0.value.json)" }.joined(separator: ","))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case 0x0D: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case ..<0x20:
                let digits = String(byte, radix: 16)
                bytes += Array("\\u00\(byte < 16 ? "0" : "")\(digits)".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
