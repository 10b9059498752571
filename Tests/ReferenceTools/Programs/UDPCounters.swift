import Foundation

/// The kernel's UDP counters in this network namespace.
public enum UDPCounters {
    /// The number of datagrams that the kernel dropped because a socket's buffer was full, on either side
    /// (`RcvbufErrors`, `SndbufErrors` in `/proc/net/snmp`).
    ///
    /// Loopback loses no other datagrams: if part of a stream is missing and this number has not grown, a program lost
    /// it.
    public static var dropped: Int {
        let text = (try? String(contentsOfFile: "/proc/net/snmp", encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("Udp:") }.map { $0.split(separator: " ") }
        guard lines.count == 2 else { return 0 }
        return zip(lines[0], lines[1]).reduce(0) { sum, pair in
            ["RcvbufErrors", "SndbufErrors"].contains(pair.0) ? sum + (Int(pair.1) ?? 0) : sum
        }
    }
}
