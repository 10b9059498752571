import Foundation

/// What the kernel counts of UDP in this network namespace.
public enum UDPCounters {
    /// Datagrams that it dropped as a socket had no room for them, on either side (`RcvbufErrors`, `SndbufErrors` in
    /// `/proc/net/snmp`).
    ///
    /// Over loopback there is no other loss: where a stream lacks something and this has not grown, somebody else lost
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
