/// The exchange that checks whether a STUN server answers: a Binding request and its response (RFC 8489).
package struct STUNBinding: Sendable {
    /// The request.
    package let request: [UInt8]
    /// RFC 8489, section 5: type, length, magic cookie and transaction identifier, in 20 bytes.
    private static let headerLength = 20
    private static let cookie: [UInt8] = [0x21, 0x12, 0xa4, 0x42]

    /// Makes a request with a random transaction identifier.
    package init() {
        var random = SystemRandomNumberGenerator()
        // A Binding request is 0x0001, and has no attributes here.
        request = [0, 1, 0, 0] + Self.cookie + (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Returns whether a datagram is the server's response to the request, with the address that it saw.
    package func isAnswered(by datagram: [UInt8]) -> Bool {
        guard datagram.count >= Self.headerLength, datagram[0] == 0x01, datagram[1] == 0x01,
            datagram[4..<Self.headerLength].elementsEqual(request[4...]),
            Int(datagram[2]) << 8 | Int(datagram[3]) == datagram.count - Self.headerLength
        else { return false }
        var rest = datagram[Self.headerLength...]
        while rest.count >= 4 {
            let bytes = Array(rest.prefix(4))
            let (type, length) = (Int(bytes[0]) << 8 | Int(bytes[1]), Int(bytes[2]) << 8 | Int(bytes[3]))
            guard rest.count >= 4 + length else { return false }
            // XOR-MAPPED-ADDRESS, or MAPPED-ADDRESS of older servers (sections 14.1 and 14.2).
            if type == 0x0020 || type == 0x0001 { return length >= 8 }
            // Attributes are padded to a multiple of 4 bytes.
            rest = rest.dropFirst(4 + (length + 3) & ~3)
        }
        return false
    }
}
