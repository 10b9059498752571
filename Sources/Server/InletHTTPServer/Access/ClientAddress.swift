package import NIOCore

/// The client that a connection is counted against: an IPv4 address, or an IPv6 network.
///
/// An IPv6 host can choose among the 2^64 addresses of its network (RFC 4291, 2.5.1), so a limit per address would have
/// no effect.
package enum ClientAddress: Hashable, Sendable {
    case ipv4(UInt32)
    /// The first 64 bits of the address.
    case ipv6(UInt64)
    case unknown

    /// - Parameter address: the peer's address. All connections with nil count as one client.
    package init(_ address: SocketAddress?) { self.init(host: HostAddress(address)) }

    init(host: HostAddress?) {
        guard let host else {
            self = .unknown
            return
        }
        self =
            host.bytes.count == 4
            ? .ipv4(host.bytes.reduce(0) { $0 << 8 | UInt32($1) })
            : .ipv6(host.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// - Parameter text: the peer's numeric address, with or without the scope of an IPv6 address. All other texts
    ///   count as one client.
    package init(_ text: String) { self.init(host: HostAddress(text)) }
}

extension ClientAddress: CustomStringConvertible {
    /// The address for logs, such as `192.0.2.1` or `2001:db8:0:1::/64`.
    package var description: String {
        switch self {
        case .ipv4(let bits): [24, 16, 8, 0].map { "\(bits >> UInt32($0) & 255)" }.joined(separator: ".")
        case .ipv6(let bits):
            [48, 32, 16, 0].map { String(bits >> UInt64($0) & 0xffff, radix: 16) }.joined(separator: ":") + "::/64"
        case .unknown: "an unknown address"
        }
    }
}
