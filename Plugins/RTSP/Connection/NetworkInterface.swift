import Glibc
import InletCore
import InletFFmpeg
import InletNetwork

// Unsafe: reads the interface list of `getifaddrs`.
/// The network interfaces of this machine.
enum NetworkInterface {
    /// Returns the index of the interface with an address; 0, for any, if no interface has it.
    static func index(of address: IPAddress) -> UInt32 {
        guard address.zone == 0 else { return address.zone }
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return 0 }
        defer { unsafe freeifaddrs(list) }
        var next = unsafe list
        while let entry = unsafe next {
            if let socket = unsafe entry.pointee.ifa_addr,
                unsafe IPAddress(family: Int32(socket.pointee.sa_family), socket: socket)?.unmapped
                    == address.unmapped
            {
                return unsafe if_nametoindex(entry.pointee.ifa_name)
            }
            unsafe next = entry.pointee.ifa_next
        }
        return 0
    }

    /// Returns the interfaces for sending to a multicast group, each with its first IPv4 address.
    ///
    /// - Parameter names: the names of the interfaces; if empty, all that are up and support multicast.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if one of the names is not that of an interface that is up
    ///   and has an IPv4 address.
    static func multicastInterfaces(named names: [String]) throws(InletError) -> [(name: String, address: IPAddress)] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { throw SocketError.error(errno, operation: "getifaddrs") }
        defer { unsafe freeifaddrs(list) }
        var found: [(name: String, address: IPAddress)] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard let socket = unsafe entry.pointee.ifa_addr,
                let address = unsafe IPAddress(family: Int32(socket.pointee.sa_family), socket: socket),
                address.bytes.count == 4
            else { continue }
            let name = unsafe String(cString: entry.pointee.ifa_name)
            let flags = unsafe entry.pointee.ifa_flags
            let isWanted = names.isEmpty ? flags & UInt32(IFF_MULTICAST) != 0 : names.contains(name)
            guard isWanted, flags & UInt32(IFF_UP) != 0, !found.contains(where: { $0.name == name }) else { continue }
            found.append((name, address))
        }
        for name in names where !found.contains(where: { $0.name == name }) {
            throw InletError(
                .invalidConfiguration,
                "'\(name.sanitized(limit: 64))' is not an interface that is up and has an IPv4 address. Check with: ip address."
            )
        }
        return found
    }
}
