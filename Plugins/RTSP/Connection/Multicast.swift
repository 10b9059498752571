import Glibc
import InletCore
import InletFFmpeg
import InletNetwork

// Unsafe: passes group addresses to `setsockopt`.
/// The socket options for multicast groups.
enum Multicast {
    /// Joins a group.
    ///
    /// - Parameters:
    ///   - group: the group's address. The zone of an IPv6 address is the index of the interface to join on.
    ///   - local: this machine's address on that interface.
    /// - Throws: an error of ``SocketError`` if the system cannot join it.
    static func join(_ group: IPAddress, _ local: IPAddress, _ descriptor: Int32) throws(InletError) {
        let status: Int32
        if group.bytes.count == 4 {
            // ip(7), `ip_mreqn`: the group, this machine's address, and the index of an interface, 0 for any.
            var request = group.bytes + interface(local) + [0, 0, 0, 0]
            status = unsafe setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(request.count))
        } else {
            // ipv6(7), `ipv6_mreq`: the group and the index of an interface, 0 for any.
            let index = unsafe withUnsafeBytes(of: group.zone) { unsafe Array($0) }
            var request = group.bytes + index
            status = unsafe setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, &request, socklen_t(request.count))
        }
        guard status == 0 else { throw SocketError.error(errno, operation: "IP_ADD_MEMBERSHIP") }
    }

    /// Sends datagrams to the group through the interface on which it was joined.
    ///
    /// - Parameter timeToLive: the datagrams' time to live; nil is the system's default.
    static func send(from local: IPAddress, _ group: IPAddress, timeToLive: Int?, _ descriptor: Int32) {
        let hops = timeToLive.map { Int32(clamping: min(max($0, 1), 255)) }
        if group.bytes.count == 4 {
            var address = interface(local)
            // If the system rejects this, its routing table decides.
            _ = unsafe setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &address, socklen_t(address.count))
            if let hops { SocketOption.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, hops) }
        } else {
            SocketOption.set(
                descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, Int32(truncatingIfNeeded: group.zone))
            if let hops { SocketOption.set(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, hops) }
        }
    }

    /// Returns the IPv4 address that identifies the interface; 0.0.0.0, for any, if the local address is not IPv4.
    private static func interface(_ local: IPAddress) -> [UInt8] {
        local.unmapped.bytes.count == 4 ? local.unmapped.bytes : [0, 0, 0, 0]
    }
}
