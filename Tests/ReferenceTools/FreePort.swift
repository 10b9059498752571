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
        if limit < 2048 { return try assignedPort() }
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

    private static func assignedPort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func isFree(_ port: Int) -> Bool {
        [SOCK_STREAM, SOCK_DGRAM].allSatisfy { type in
            let descriptor = socket(AF_INET6, Int32(type.rawValue), 0)
            guard descriptor >= 0 else { return isFreeIPv4(port, Int32(type.rawValue)) }
            defer { close(descriptor) }
            // All addresses, of IPv4 as well.
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            return unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
                }
            }
        }
    }

    private static func isFreeIPv4(_ port: Int, _ type: Int32) -> Bool {
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
