package import InletCore

/// An address of the Internet Protocol, version 4 or 6.
package struct IPAddress: Sendable, Hashable {
    /// Four bytes or sixteen, in network order.
    package let bytes: [UInt8]
    /// The index of the interface that a link-local IPv6 address is reached by (RFC 4007, section 6). The default is 0:
    /// the system's choice, which for a link-local address is an error.
    ///
    /// Comparisons leave it out: it is this machine's way to the address, and others state the address without it.
    package var zone: UInt32 = 0

    /// - Returns: nil if there are neither four bytes nor sixteen.
    package init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    package static func == (one: IPAddress, other: IPAddress) -> Bool { one.bytes == other.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// The space of the address. For an IPv6 address that embeds an IPv4 address, the space of the latter.
    ///
    /// From IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890). Addresses that are not globally
    /// reachable according to them, and have no separate space here, are private. So are those that IANA has not
    /// allocated for IPv6 global unicast.
    package var space: AddressSpace {
        if bytes.count == 4 { return Self.find(bytes, in: Self.spaces4) ?? .global }
        for (prefix, start) in Self.embeddings where Self.isIn(bytes, prefix) {
            return Self.find(Array(bytes[start..<(start + 4)]), in: Self.spaces4) ?? .global
        }
        return Self.find(bytes, in: Self.spaces6) ?? .privateUse
    }

    /// The IPv6 networks whose addresses embed an IPv4 address, and where it begins: mapped (RFC 4291, 2.5.5.2), NAT64
    /// (RFC 6052) and 6to4 (RFC 3056).
    private static let embeddings: [(prefix: Prefix, start: Int)] = [
        (Prefix("00000000000000000000ffff", 96), 12), (Prefix("0064ff9b0000000000000000", 96), 12),
        (Prefix("2002", 16), 2),
    ]

    private struct Prefix {
        let bytes: [UInt8]
        let length: Int

        /// - Parameter digits: the first bytes, hexadecimal.
        init(_ digits: String, _ length: Int) {
            let values = digits.utf8.compactMap(\.hexadecimalValue)
            bytes = stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
            self.length = length
        }

        init(_ bytes: [UInt8], _ length: Int) {
            self.bytes = bytes
            self.length = length
        }

        init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8, _ length: Int) {
            bytes = [first, second, third, fourth]
            self.length = length
        }
    }

    private static func isIn(_ address: [UInt8], _ prefix: Prefix) -> Bool {
        let whole = prefix.length / 8
        guard address.prefix(whole).elementsEqual(prefix.bytes.prefix(whole)) else { return false }
        let rest = prefix.length % 8
        return rest == 0 || (address[whole] ^ prefix.bytes[whole]) >> UInt8(8 - rest) == 0
    }

    private static func find(_ address: [UInt8], in table: [(Prefix, AddressSpace)]) -> AddressSpace? {
        table.first { isIn(address, $0.0) }?.1
    }

    /// Returns whether the address is in a network such as `192.168.0.0/16`, or equals an address written without a
    /// length.
    package func isIn(network text: String) -> Bool {
        let parts = text.split(atByte: "/")
        guard let network = parts.first.flatMap({ IPAddress(literal: String($0)) }),
            network.bytes.count == bytes.count
        else { return false }
        guard parts.count > 1 else { return network == self }
        guard parts.count == 2, let length = Int(parts[1]), (0...bytes.count * 8).contains(length) else { return false }
        return Self.isIn(bytes, Prefix(network.bytes, length))
    }

    /// The IPv4 networks with their spaces; the first match counts. Linux connects 0.0.0.0 to the machine itself.
    /// Metadata addresses of cloud providers count as link-local, whatever network they are from: Alibaba's, Oracle's,
    /// Azure's.
    private static let spaces4: [(Prefix, AddressSpace)] = [
        (Prefix(100, 100, 100, 200, 32), .linkLocal), (Prefix(192, 0, 0, 192, 32), .linkLocal),
        (Prefix(168, 63, 129, 16, 32), .linkLocal),
        (Prefix(0, 0, 0, 0, 32), .loopback), (Prefix(0, 0, 0, 0, 8), .privateUse),
        (Prefix(10, 0, 0, 0, 8), .privateUse),
        (Prefix(100, 64, 0, 0, 10), .privateUse), (Prefix(127, 0, 0, 0, 8), .loopback),
        (Prefix(169, 254, 0, 0, 16), .linkLocal), (Prefix(172, 16, 0, 0, 12), .privateUse),
        (Prefix(192, 0, 0, 9, 32), .global), (Prefix(192, 0, 0, 10, 32), .global),
        (Prefix(192, 0, 0, 0, 24), .privateUse), (Prefix(192, 0, 2, 0, 24), .privateUse),
        (Prefix(192, 168, 0, 0, 16), .privateUse), (Prefix(198, 18, 0, 0, 15), .privateUse),
        (Prefix(198, 51, 100, 0, 24), .privateUse), (Prefix(203, 0, 113, 0, 24), .privateUse),
        (Prefix(224, 0, 0, 0, 4), .multicast), (Prefix(255, 255, 255, 255, 32), .multicast),
        (Prefix(240, 0, 0, 0, 4), .privateUse),
    ]

    private static let spaces6: [(Prefix, AddressSpace)] = [
        (Prefix("00000000000000000000000000000000", 127), .loopback), (Prefix("fe80", 10), .linkLocal),
        (Prefix("ff", 8), .multicast),
        // Amazon's metadata; and local-use NAT64 (RFC 8215), which may lead to any address.
        (Prefix("fd000ec2000000000000000000000254", 128), .linkLocal), (Prefix("0064ff9b0001", 48), .linkLocal),
        // The reachable addresses in 2001::/23, which is for protocols.
        (Prefix("20010001000000000000000000000001", 128), .global),
        (Prefix("20010001000000000000000000000002", 128), .global),
        (Prefix("20010001000000000000000000000003", 128), .global), (Prefix("20010003", 32), .global),
        (Prefix("200100040112", 48), .global), (Prefix("20010020", 28), .global), (Prefix("20010030", 28), .global),
        (Prefix("20010000", 23), .privateUse), (Prefix("20010db8", 32), .privateUse),
        (Prefix("3fff00", 20), .privateUse),
        // Global unicast (RFC 4291, 2.4, as IANA allocates it).
        (Prefix("20", 3), .global),
    ]
}

/// The reachability of an address, the most public first.
package enum AddressSpace: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Reachable from everywhere.
    case global
    /// Addresses of private networks, and unassigned ones: RFC 1918, providers' shared addresses (RFC 6598), unique
    /// local ones (RFC 4193), and reserved ones.
    case privateUse
    /// Link-local, where clouds have their metadata: 169.254.0.0/16 and fe80::/10.
    case linkLocal
    /// The machine itself.
    case loopback
    /// A multicast group, not a server.
    case multicast

    package static func < (one: AddressSpace, other: AddressSpace) -> Bool { one.rawValue < other.rawValue }
}

/// The addresses to which a server may refer by a redirect or a playlist: the option `private-addresses`.
package enum AddressPolicy: Sendable, Hashable {
    /// Only to addresses at least as public as its own.
    case follow
    /// Only to public addresses and to its own.
    case deny
    /// To any address.
    case allow

    /// Returns whether a server at one address may lead to another.
    ///
    /// - Parameter leader: the server's address; nil if unknown, which counts as public.
    package func allows(_ target: IPAddress, from leader: IPAddress?) -> Bool {
        switch self {
        case .allow: true
        case .follow: target == leader || target.space <= leader?.space ?? .global
        case .deny: target == leader || target.space == .global
        }
    }

    /// The error if it may not.
    package static let refusal = InletError(
        .addressRefused,
        "The server leads to an address of a more private network than its own, such as this machine's. "
            + "Set private-addresses=allow if the server can be trusted.")
}
