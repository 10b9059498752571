/// Writes the frames of a WebSocket's client (RFC 6455, section 5.2). All are masked (section 5.3) and none is
/// fragmented.
package enum WebSocketWriter {
    /// The frames that this client sends.
    package enum Kind: UInt8, Sendable {
        case binary = 0x2
        case close = 0x8
        case pong = 0xA
    }

    /// Appends a frame.
    ///
    /// - Parameter mask: random bits, new ones for each frame, which the author of the payload cannot guess (RFC 6455,
    ///   section 10.3).
    package static func append(_ kind: Kind, _ payload: [UInt8], mask: UInt32, to output: inout [UInt8]) {
        output.append(0x80 | kind.rawValue)
        let count = payload.count
        switch count {
        case ..<126: output.append(0x80 | UInt8(truncatingIfNeeded: count))
        case ..<65_536:
            output.append(0x80 | 126)
            output += [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        default:
            output.append(0x80 | 127)
            output += (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        let key = (0..<4).map { UInt8(truncatingIfNeeded: mask >> UInt32(24 - 8 * $0)) }
        output += key
        for (index, byte) in payload.enumerated() { output.append(byte ^ key[index & 3]) }
    }
}
