import Glibc
import InletFFmpeg
import InletNetwork

// Unsafe: stores an address in the system's struct.
/// An IP address and a port in the system's representation.
@safe struct SocketAddress {
    // A plain value; its bytes are read through pointers only inside the closures below.
    private var storage = sockaddr_storage()
    private var length: socklen_t

    /// The address family: `AF_INET` or `AF_INET6`.
    var family: Int32 { Int32(storage.ss_family) }

    init(_ address: IPAddress, port: UInt16) {
        if address.bytes.count == 4 {
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes.storeBytes(of: sa_family_t(AF_INET), as: sa_family_t.self)
                unsafe bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
                // ip(7): the address follows the family and the port.
                for (index, byte) in address.bytes.enumerated() { unsafe bytes[4 + index] = byte }
            }
        } else {
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes.storeBytes(of: sa_family_t(AF_INET6), as: sa_family_t.self)
                unsafe bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
                // ipv6(7): flow information precedes the address.
                for (index, byte) in address.bytes.enumerated() { unsafe bytes[8 + index] = byte }
                // The zone follows the address, in host byte order.
                unsafe bytes.storeBytes(of: address.zone, toByteOffset: 24, as: UInt32.self)
            }
        }
    }

    /// Creates the address from the result of a system call.
    ///
    /// - Returns: nil if the call failed, or if the family is not IP.
    init?(filledBy body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Bool) {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var length = length
        let isFilled = unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &length) }
        }
        self.length = length
        guard isFilled, ip != nil else { return nil }
    }

    /// The IP address; nil for another family.
    var ip: IPAddress? {
        unsafe withUnsafeBytes(of: storage) { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return unsafe IPAddress(family: family, socket: base)
        }
    }

    /// The port.
    var port: UInt16 {
        unsafe withUnsafeBytes(of: storage) {
            unsafe UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Calls `body` with the address in the system's representation, valid during the call.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}
