/// A message of the kernel about links, addresses and routes: rtnetlink, as `include/uapi/linux/netlink.h` and
/// `rtnetlink.h` lay it out, in the byte order of the machine.
package enum RoutingMessage: Sendable, Hashable {
    /// An interface, and whether it carries packets (`IFF_UP` and `IFF_RUNNING`).
    case link(interface: Int32, isRunning: Bool)
    /// An interface is gone.
    case linkGone(interface: Int32)
    /// An address of an interface that may be used.
    case address(interface: Int32, NetworkView.Address)
    /// An address that is gone, or may not be used yet.
    case addressGone(interface: Int32)
    /// A route, with the length of its prefix in bits.
    case route(NetworkView.Route, prefix: UInt8)
    /// A route is gone.
    case routeGone(prefix: UInt8)
    /// The end of a requested list.
    case done
    /// A failed request, with an error number; 0 acknowledges it.
    case failed(Int32)
    /// The kernel has dropped messages.
    case overrun

    /// The kernel's numbers of message types (`RTM_...`, `NLMSG_...`).
    private enum Kind {
        static let (error, done, overrun) = (UInt16(2), UInt16(3), UInt16(4))
        static let (newLink, deletedLink) = (UInt16(16), UInt16(17))
        static let (newAddress, deletedAddress) = (UInt16(20), UInt16(21))
        static let (newRoute, deletedRoute) = (UInt16(24), UInt16(25))
    }

    private static let headerSize = 16
    /// `IFF_UP | IFF_RUNNING`.
    private static let running: UInt32 = 0x41
    /// `IFA_F_TENTATIVE | IFA_F_DADFAILED`: an address of IPv6 that is still being probed, or belongs to another host.
    private static let unusable: UInt32 = 0x48
    /// The most messages of one datagram that are read.
    private static let most = 4096

    /// Reads the messages of a datagram. Truncated and unknown messages are left out; nothing is read beyond the bytes.
    package static func read(_ bytes: some RandomAccessCollection<UInt8>) -> [RoutingMessage] {
        let bytes = ByteReader(Array(bytes))
        var messages: [RoutingMessage] = []
        var start = 0
        while messages.count < most, let length = bytes.uint32(at: start), let kind = bytes.uint16(at: start + 4) {
            let end = start + Int(length)
            guard Int(length) >= headerSize, end <= bytes.count else { break }
            if let message = read(kind, bytes, start + headerSize, end) { messages.append(message) }
            start = (end + 3) & ~3
        }
        return messages
    }

    private static func read(_ kind: UInt16, _ bytes: ByteReader, _ start: Int, _ end: Int) -> RoutingMessage? {
        switch kind {
        case Kind.done: return .done
        case Kind.overrun: return .overrun
        case Kind.error: return bytes.int32(at: start, before: end).map { .failed(0 &- $0) }
        case Kind.newLink, Kind.deletedLink:
            // struct ifinfomsg: family, padding, type, index, flags, change.
            guard let index = bytes.int32(at: start + 4, before: end),
                let flags = bytes.uint32(at: start + 8, before: end)
            else { return nil }
            guard kind == Kind.newLink else { return .linkGone(interface: index) }
            return .link(interface: index, isRunning: flags & running == running)
        case Kind.newAddress, Kind.deletedAddress: return address(kind, bytes, start, end)
        case Kind.newRoute, Kind.deletedRoute: return route(kind, bytes, start, end)
        default: return nil
        }
    }

    /// `struct ifaddrmsg`: family, length of the prefix, flags, scope, index.
    private static func address(_ kind: UInt16, _ bytes: ByteReader, _ start: Int, _ end: Int) -> RoutingMessage? {
        guard let index = bytes.int32(at: start + 4, before: end), let short = bytes.uint8(at: start + 2, before: end)
        else { return nil }
        guard kind == Kind.newAddress else { return .addressGone(interface: index) }
        var flags = UInt32(short)
        var found: NetworkView.Address?
        for attribute in bytes.attributes(from: start + 8, to: end) {
            switch attribute.kind {
            // On a point-to-point link IFA_ADDRESS is the far end's address, and IFA_LOCAL is also present.
            case 1: found = found ?? NetworkView.Address(bytes[attribute.place])
            case 2: found = NetworkView.Address(bytes[attribute.place]) ?? found
            // IFA_FLAGS, all 32 bits of them.
            case 8: flags = bytes.uint32(at: attribute.place.lowerBound, before: attribute.place.upperBound) ?? flags
            default: break
            }
        }
        guard flags & unusable == 0, let found else { return .addressGone(interface: index) }
        return .address(interface: index, found)
    }

    /// `struct rtmsg`: family, length of the destination, of the source, TOS, table, protocol, scope, type, flags.
    private static func route(_ kind: UInt16, _ bytes: ByteReader, _ start: Int, _ end: Int) -> RoutingMessage? {
        guard let prefix = bytes.uint8(at: start + 1, before: end), let type = bytes.uint8(at: start + 7, before: end)
        else { return nil }
        // RTN_UNICAST: other types, such as RTN_UNREACHABLE, lead nowhere.
        guard kind == Kind.newRoute, type == 1 else { return .routeGone(prefix: prefix) }
        var route = NetworkView.Route(interface: 0)
        for attribute in bytes.attributes(from: start + 12, to: end) {
            switch attribute.kind {
            case 4:
                route.interface = bytes.int32(at: attribute.place.lowerBound, before: attribute.place.upperBound) ?? 0
            case 5: route.gateway = NetworkView.Address(bytes[attribute.place])
            case 7: route.source = NetworkView.Address(bytes[attribute.place])
            default: break
            }
        }
        return .route(route, prefix: prefix)
    }
}

/// Reads numbers in the byte order of the machine at checked places.
private struct ByteReader {
    struct Attribute {
        var kind: UInt16
        var place: Range<Int>
    }

    let bytes: [UInt8]
    var count: Int { bytes.count }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    subscript(place: Range<Int>) -> ArraySlice<UInt8> { bytes[place] }

    func uint8(at place: Int, before end: Int) -> UInt8? { place >= 0 && place < end ? bytes[place] : nil }

    func uint16(at place: Int) -> UInt16? {
        guard place >= 0, place + 2 <= count else { return nil }
        return UInt16(littleEndian: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
    }

    func uint32(at place: Int, before end: Int? = nil) -> UInt32? {
        guard place >= 0, place + 4 <= end ?? count else { return nil }
        return UInt32(littleEndian: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) })
    }

    func int32(at place: Int, before end: Int) -> Int32? {
        uint32(at: place, before: end).map(Int32.init(bitPattern:))
    }

    /// The attributes (`struct rtattr`) of a message, without truncated ones.
    func attributes(from start: Int, to end: Int) -> [Attribute] {
        var found: [Attribute] = []
        var start = start
        while start + 4 <= end, let length = uint16(at: start), let kind = uint16(at: start + 2) {
            guard length >= 4, start + Int(length) <= end else { break }
            // The two highest bits describe how the value is nested and ordered.
            found.append(Attribute(kind: kind & 0x3fff, place: start + 4..<start + Int(length)))
            start += (Int(length) + 3) & ~3
        }
        return found
    }
}
