import InletFFmpeg

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The network interfaces of this machine.
enum NetworkInterface {
    /// Returns the index of the interface that has an address; 0, which is any, if none has it.
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
}
