/// The addresses and the default routes of this machine at one time, as far as paths to other machines depend on them.
package struct NetworkView: Sendable, Hashable {
    /// An IP address in network order, 4 or 16 bytes.
    package struct Address: Sendable, Hashable {
        package var bytes: [UInt8]

        /// Creates an address; nil unless there are 4 or 16 bytes.
        package init?(_ bytes: some Collection<UInt8>) {
            guard bytes.count == 4 || bytes.count == 16 else { return nil }
            self.bytes = Array(bytes)
        }

        /// Whether the address is of the loopback, or of a link only: paths over such addresses do not change with the
        /// network.
        var isLocal: Bool {
            if bytes.count == 4 { return bytes[0] == 127 || (bytes[0] == 169 && bytes[1] == 254) }
            let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
            return isLoopback || (bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80)
        }
    }

    /// The route to other networks, of one family.
    package struct Route: Sendable, Hashable {
        /// The number of the interface.
        package var interface: Int32
        /// The next router; nil if the destination is reached directly.
        package var gateway: Address?
        /// The address that packets are sent from; nil if the kernel names none.
        package var source: Address?

        package init(interface: Int32, gateway: Address? = nil, source: Address? = nil) {
            (self.interface, self.gateway, self.source) = (interface, gateway, source)
        }
    }

    /// The addresses of interfaces that carry packets, without those of the loopback and of one link.
    package var addresses: Set<Address>
    /// The default route of IPv4; nil if there is no such route.
    package var route4: Route?
    /// The default route of IPv6; nil if there is no such route.
    package var route6: Route?

    package init(addresses: Set<Address> = [], route4: Route? = nil, route6: Route? = nil) {
        (self.addresses, self.route4, self.route6) = (addresses, route4, route6)
    }

    /// Creates a view of the kernel's lists: the addresses of interfaces that carry packets.
    package init(links: [RoutingMessage], addresses: [RoutingMessage]) {
        var running: Set<Int32> = []
        for case .link(let interface, isRunning: true) in links { running.insert(interface) }
        self.init()
        for case .address(let interface, let address) in addresses
        where running.contains(interface) && !address.isLocal {
            self.addresses.insert(address)
        }
    }

    /// Returns the difference to a later view; nil if the views are equal.
    package func change(to later: NetworkView) -> NetworkChange? {
        guard later != self else { return nil }
        var change = NetworkChange()
        change.lost = addresses.subtracting(later.addresses)
        change.gained = later.addresses.subtracting(addresses)
        for (old, new) in [(route4, later.route4), (route6, later.route6)] where old != new {
            if old == nil { change.hasNewRoute = true } else { change.hasLostRoute = true }
        }
        return change
    }
}

/// The difference between two views of the network.
package struct NetworkChange: Sendable, Hashable {
    /// The addresses that are gone.
    package var lost: Set<NetworkView.Address> = []
    /// The addresses that have come.
    package var gained: Set<NetworkView.Address> = []
    /// Whether a default route is gone or has changed.
    package var hasLostRoute = false
    /// Whether a default route exists that did not exist before.
    package var hasNewRoute = false

    package init() {}

    /// Whether a path that worked may have stopped working: an address or a route is gone. Additions break no path.
    package var mayBreakPaths: Bool { !lost.isEmpty || hasLostRoute }
}

extension NetworkChange: CustomStringConvertible {
    /// The change in words, without addresses, which may identify a person.
    package var description: String {
        var parts: [String] = []
        if !lost.isEmpty { parts.append("\(lost.count) \(lost.count == 1 ? "address is" : "addresses are") gone") }
        if !gained.isEmpty {
            parts.append("\(gained.count) \(gained.count == 1 ? "address has" : "addresses have") come")
        }
        if hasLostRoute { parts.append("the default route is gone or another") }
        if hasNewRoute { parts.append("there is a default route") }
        return parts.joined(separator: ", ")
    }
}
