import Foundation

/// A TCP port of 127.0.0.1, held by this process.
public final class ReferenceSocket: Sendable {
    /// The port.
    public let port: Int
    private let descriptors: [Int32]

    private init(port: Int, descriptors: [Int32]) {
        self.port = port
        self.descriptors = descriptors
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// No socket could be made.
    public struct Failure: Error {}

    /// A listening port with a full queue: a client waits without an answer.
    public static func thatTakesNoConnections() throws -> ReferenceSocket {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let type = Int32(SOCK_STREAM.rawValue)
        let server = socket(AF_INET, type, 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(server, $0, length) == 0 && listen(server, 0) == 0 && getsockname(server, $0, &length) == 0
            }
        }
        guard server >= 0, isBound else { throw Failure() }
        var descriptors = [server]
        for _ in 0..<4 {
            let client = socket(AF_INET, type | Int32(SOCK_NONBLOCK.rawValue), 0)
            _ = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(client, $0, length) }
            }
            descriptors.append(client)
        }
        return ReferenceSocket(port: Int(UInt16(bigEndian: address.sin_port)), descriptors: descriptors)
    }

    /// A connection to a port that sends a text and then neither sends nor reads.
    public static func thatFallsSilent(after text: String, to port: Int) throws -> ReferenceSocket {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        address.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A small buffer in the kernel.
        var size: Int32 = 4096
        _ = unsafe setsockopt(client, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(client, $0, length) == 0 }
        }
        let sent = unsafe Array(text.utf8).withUnsafeBytes { unsafe send(client, $0.baseAddress, $0.count, 0) }
        guard client >= 0, isConnected, sent == text.utf8.count else { throw Failure() }
        return ReferenceSocket(port: port, descriptors: [client])
    }
}
