import Foundation
import Synchronization

// Unsafe: passes addresses to bind(2).
/// A currently free port of this machine, for TCP and for UDP.
///
/// It is below the ports that the system assigns (`ip_local_port_range`): no connection or socket of another test gets
/// it between ``find()`` and its use.
public enum FreePort {
    /// No port was found.
    public struct Failure: Error, CustomStringConvertible {
        public var description: String { "No free port was found below ip_local_port_range." }
    }

    /// The ports that this process has returned, so that it returns none twice.
    private static let returned = Mutex<Set<Int>>([])

    /// Finds a port that no socket is bound to, on any address. If the system assigns almost all ports, it is one that
    /// the system assigns.
    public static func find() throws -> Int {
        let limit = try assigned()
        if limit < 2048, let port = bound(SOCK_STREAM, to: 0) { return port }
        for _ in 0..<1000 {
            let port = Int.random(in: max(1024, limit - 16384)..<limit)
            guard isFree(port), returned.withLock({ $0.insert(port).inserted }) else { continue }
            return port
        }
        throw Failure()
    }

    /// The lowest port that the system assigns.
    private static func assigned() throws -> Int {
        let text = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        guard let lowest = text.split(whereSeparator: \.isWhitespace).first.flatMap({ Int($0) }) else {
            throw Failure()
        }
        return lowest
    }

    private static func isFree(_ port: Int) -> Bool {
        bound(SOCK_STREAM, to: port) != nil && bound(SOCK_DGRAM, to: port) != nil
    }

    /// Binds a socket to a port of all addresses for a moment.
    ///
    /// - Parameter port: 0 for one that the system assigns.
    /// - Returns: the port, or nil if another socket has it.
    private static func bound(_ type: __socket_type, to port: Int) -> Int? {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
