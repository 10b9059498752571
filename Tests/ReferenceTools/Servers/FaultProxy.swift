import Foundation

/// A proxy in front of a test server that damages the traffic. The faults are reproducible from a seed.
public final class FaultProxy: Sendable {
    /// The protocol of the traffic.
    public enum Carrier: String, Sendable, CaseIterable {
        case tcp, udp
        /// TCP, and the UDP ports negotiated in SETUP.
        case rtsp
    }

    /// The direction of the damaged bytes.
    public enum Direction: String, Sendable {
        /// From the server to the client.
        case down
        /// From the client to the server.
        case up
        case both
    }

    /// A fault. It begins when both `afterBytes` of a flow and `afterSeconds` have passed, and lasts for `seconds`.
    public struct Fault: Sendable {
        /// The script's name for the fault.
        public var kind: String
        /// The default is ``Direction/down``.
        public var direction = Direction.down
        /// The number of bytes of a flow to pass first, exact on TCP. The default is 0.
        public var afterBytes = 0
        /// Seconds after the fault was added. The default is 0.
        public var afterSeconds = 0.0
        /// The duration in seconds. The default is nil: until the end.
        public var seconds: Double?
        /// The affected percentage of packets, or of reads on TCP. The default is 100.
        public var percent = 100.0
        /// The delay of a packet with ``delay(milliseconds:)`` and ``reorder(percent:milliseconds:)``. The default is
        /// 20.
        public var milliseconds = 20.0

        /// A fault of a kind in the table of `Tests/Peers/README.md`.
        public init(_ kind: String) { self.kind = kind }

        /// Delays all traffic.
        public static func delay(milliseconds: Double) -> Fault {
            var fault = Fault("delay")
            fault.milliseconds = milliseconds
            return fault
        }

        /// Stops the traffic but leaves the connection open. TCP resumes where it stopped; UDP packets are lost
        /// meanwhile.
        public static func stall(afterBytes: Int = 0, seconds: Double? = nil) -> Fault {
            var fault = Fault("stall")
            fault.afterBytes = afterBytes
            fault.seconds = seconds
            return fault
        }

        /// Closes the connection properly (FIN), once.
        public static func cut(afterBytes: Int = 0) -> Fault {
            var fault = Fault("cut")
            fault.afterBytes = afterBytes
            return fault
        }

        /// Resets the connection (RST), once.
        public static func reset(afterBytes: Int = 0) -> Fault {
            var fault = Fault("reset")
            fault.afterBytes = afterBytes
            return fault
        }

        /// Resets new connections at once.
        public static func refuse(seconds: Double? = nil) -> Fault {
            var fault = Fault("refuse")
            fault.seconds = seconds
            return fault
        }

        /// Drops UDP packets.
        public static func loss(percent: Double) -> Fault { hit("loss", percent) }

        /// Duplicates UDP packets.
        public static func duplicate(percent: Double) -> Fault { hit("duplicate", percent) }

        /// Delays some UDP packets so that later ones overtake them.
        public static func reorder(percent: Double, milliseconds: Double = 20) -> Fault {
            var fault = hit("reorder", percent)
            fault.milliseconds = milliseconds
            return fault
        }

        /// Flips a bit of a packet; on ``Carrier/tcp`` a bit of a read, on ``Carrier/rtsp`` a bit in the payload of an
        /// interleaved RTP packet.
        public static func corrupt(percent: Double) -> Fault { hit("corrupt", percent) }

        private static func hit(_ kind: String, _ percent: Double) -> Fault {
            var fault = Fault(kind)
            fault.percent = percent
            return fault
        }

        var message: PeerMessage {
            var message: PeerMessage = [
                "kind": .string(kind), "direction": .string(direction.rawValue),
                "afterBytes": .number(Double(afterBytes)), "afterSeconds": .number(afterSeconds),
                "percent": .number(percent), "milliseconds": .number(milliseconds),
            ]
            if let seconds { message["seconds"] = .number(seconds) }
            return message
        }
    }

    /// The process, for its log and for commands without a method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int

    /// Starts a proxy and waits until it listens.
    ///
    /// - Parameters:
    ///   - target: the port of the target server on 127.0.0.1.
    ///   - seed: the seed. The same seed affects the same packets of a flow.
    ///   - faults: the initial faults.
    /// - Throws: ``PeerProcess/Failure``.
    public init(to target: Int, carrier: Carrier = .tcp, seed: Int = 1, faults: [Fault] = []) throws {
        var arguments = ["--target", "127.0.0.1:\(target)", "--protocol", carrier.rawValue, "--seed", "\(seed)"]
        for fault in faults {
            arguments.append("--fault=" + String(decoding: try JSONEncoder().encode(fault.message), as: UTF8.self))
        }
        process = try PeerProcess("fault-proxy.py", arguments)
        port = process.ready["port"]?.int ?? 0
    }

    /// Returns a server's URL with the port replaced by the proxy's.
    public func url(_ url: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        parts.port = port
        return parts.string ?? url
    }

    /// Adds a fault.
    public func add(_ fault: Fault) throws { try process.send("fault", fault.message) }

    /// Removes all faults.
    public func clear() throws { try process.send("clear") }

    /// Returns the numbers of connections, bytes and packets, and of the faults of each kind.
    public func report() throws -> PeerMessage { try process.send("report") }

    /// Ends the proxy, which closes every connection.
    public func stop() { process.stop() }
}
