import Foundation

// Unsafe: passes addresses and memory to the system.
/// A UDP port of 127.0.0.1. The kernel keeps what arrives, up to some 150 datagrams.
final class DatagramReceiver {
    /// The port could not be bound.
    struct Failure: Error {}

    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var size: Int32 = 1 << 22
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        address.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
        let isBound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else { throw Failure() }
    }

    deinit { close(descriptor) }

    /// Returns the datagrams that have arrived, joined.
    func received() -> Data {
        var all = Data()
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return all }
            all.append(contentsOf: bytes[..<count])
        }
    }
}
