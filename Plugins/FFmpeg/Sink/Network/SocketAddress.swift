import CSRT
import Glibc
import InletCore

// Unsafe: calls `getaddrinfo` and keeps copies of the addresses.
/// A socket address resolved from a name.
@safe struct SocketAddress {
    private var storage: sockaddr_storage
    private let length: Int32

    /// The address family: AF_INET or AF_INET6.
    var family: Int32 { Int32(storage.ss_family) }

    /// Returns the addresses of a host, in the system's order of preference.
    ///
    /// Blocks while the name service, which has its own limits, answers (`man resolv.conf`).
    ///
    /// - Parameters:
    ///   - host: a name or an address; empty for any address of this machine.
    ///   - isPassive: whether the address is this machine's own, to listen on.
    /// - Throws: ``InletError/Code/hostNotFound``.
    static func resolve(
        _ host: String, _ port: UInt16, isPassive: Bool, family: Int32 = AF_UNSPEC
    ) throws(InletError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = family
        unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        if isPassive { unsafe hints.ai_flags = AI_PASSIVE }
        var found: UnsafeMutablePointer<addrinfo>?
        let code =
            host.isEmpty
            ? unsafe getaddrinfo(nil, "\(port)", &hints, &found) : unsafe getaddrinfo(host, "\(port)", &hints, &found)
        defer { if unsafe found != nil { unsafe freeaddrinfo(found) } }
        guard code == 0 else {
            throw InletError(
                .hostNotFound, "The name service does not know the host. Check its spelling, and that DNS works.",
                context: .init(operation: "getaddrinfo", nativeCode: code))
        }
        var addresses: [SocketAddress] = []
        var next = unsafe found
        while let each = unsafe next, addresses.count < 16 {
            if let address = unsafe each.pointee.ai_addr {
                var storage = sockaddr_storage()
                let count = min(unsafe Int(each.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
                unsafe withUnsafeMutableBytes(of: &storage) {
                    unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
                }
                addresses.append(SocketAddress(storage: storage, length: Int32(count)))
            }
            unsafe next = each.pointee.ai_next
        }
        return addresses
    }

    /// Calls a function with the address as its argument.
    func call(_ body: (UnsafePointer<sockaddr>, Int32) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}
