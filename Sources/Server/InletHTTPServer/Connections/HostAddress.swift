import InletCore
import NIOCore

// Unsafe: reads the bytes of a socket address.
/// An address of a host: 4 bytes, or 16 of IPv6. An IPv4 address that an IPv6 socket reports has 4.
struct HostAddress: Hashable, Sendable {
    var bytes: [UInt8]

    init?(_ address: SocketAddress?) {
        switch address {
        // In a `sockaddr_in` the address begins at the fourth byte, in a `sockaddr_in6` at the eighth (ip(7), ipv6(7)).
        case .v4(let address): bytes = unsafe withUnsafeBytes(of: address.address) { unsafe Array($0[4..<8]) }
        case .v6(let address):
            let all = unsafe withUnsafeBytes(of: address.address) { unsafe Array($0[8..<24]) }
            let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xff && all[11] == 0xff
            bytes = isMapped ? Array(all[12...]) : all
        default: return nil
        }
    }

    /// - Parameter text: a numeric address, with or without the scope of an IPv6 address.
    init?(_ text: String) {
        self.init(try? SocketAddress(ipAddress: String(text.prefix(upToByte: "%")), port: 0))
    }
}
