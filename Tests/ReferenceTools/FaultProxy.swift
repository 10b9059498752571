import Foundation

/// A proxy in front of a test server that spoils what passes, as told and from a seed.
public final class FaultProxy: Sendable {
    /// What passes.
    public enum Carrier: String, Sendable, CaseIterable {
        case tcp, udp
        /// TCP, and the UDP that SETUP agrees on.
        case rtsp
    }

    /// Which way the spoiled bytes go.
    public enum Direction: String, Sendable {
        /// From the server to the client.
        case down
        /// From the client to the server.
        case up
        case both
    }

    /// One thing that goes wrong. It begins when both `afterBytes` of a flow and `afterSeconds` have passed, and lasts
    /// for `seconds`.
    public struct Fault: Sendable {
        /// What the script calls it.
        public var kind: String
        /// The default is ``Direction/down``.
        public var direction = Direction.down
        /// Bytes of a flow that pass first, exactly on TCP. The default is 0.
        public var afterBytes = 0
        /// Seconds from when the fault was added. The default is 0.
        public var afterSeconds = 0.0
        /// How long it lasts. The default is nil: for good.
        public var seconds: Double?
        /// The share of packets, or of reads on TCP, that is hit. The default is 100.
        public var percent = 100.0
        /// How long a packet is held, of ``delay(milliseconds:)`` and ``reorder(percent:milliseconds:)``. The default
        /// is 20.
        public var milliseconds = 20.0

        /// A fault of a kind in the table of `Tests/Peers/README.md`.
        public init(_ kind: String) { self.kind = kind }

        /// Everything comes later.
        public static func delay(milliseconds: Double) -> Fault {
            var fault = Fault("delay")
            fault.milliseconds = milliseconds
            return fault
        }

        /// Nothing comes, with the connection left open. TCP goes on where it stopped; UDP packets of that time are
        /// lost.
        public static func stall(afterBytes: Int = 0, seconds: Double? = nil) -> Fault {
            var fault = Fault("stall")
            fault.afterBytes = afterBytes
            fault.seconds = seconds
            return fault
        }

        /// The connection is closed in order (FIN), once.
        public static func cut(afterBytes: Int = 0) -> Fault {
            var fault = Fault("cut")
            fault.afterBytes = afterBytes
            return fault
        }

        /// The connection is reset (RST), once.
        public static func reset(afterBytes: Int = 0) -> Fault {
            var fault = Fault("reset")
            fault.afterBytes = afterBytes
            return fault
        }

        /// New connections are reset at once.
        public static func refuse(seconds: Double? = nil) -> Fault {
            var fault = Fault("refuse")
            fault.seconds = seconds
            return fault
        }

        /// UDP packets vanish.
        public static func loss(percent: Double) -> Fault { hit("loss", percent) }

        /// UDP packets come twice.
        public static func duplicate(percent: Double) -> Fault { hit("duplicate", percent) }

        /// UDP packets are held for a while, so that others overtake them.
        public static func reorder(percent: Double, milliseconds: Double = 20) -> Fault {
            var fault = hit("reorder", percent)
            fault.milliseconds = milliseconds
            return fault
        }

        /// A bit of a packet is flipped; on ``Carrier/tcp`` of a read, on ``Carrier/rtsp`` of the payload of an
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

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int

    /// Starts a proxy and waits until it listens.
    ///
    /// - Parameters:
    ///   - target: the port of the server behind, on 127.0.0.1.
    ///   - seed: the same seed hits the same packets of a flow.
    ///   - faults: what goes wrong from the start.
    /// - Throws: ``PeerProcess/Failure``.
    public init(to target: Int, carrier: Carrier = .tcp, seed: Int = 1, faults: [Fault] = []) throws {
        var arguments = ["--target", "127.0.0.1:\(target)", "--protocol", carrier.rawValue, "--seed", "\(seed)"]
        for fault in faults {
            arguments.append("--fault=" + String(decoding: try JSONEncoder().encode(fault.message), as: UTF8.self))
        }
        process = try PeerProcess("fault-proxy.py", arguments)
        port = process.ready["port"]?.int ?? 0
    }

    /// A server's URL with the proxy's port in place of its own.
    public func url(_ url: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        parts.port = port
        return parts.string ?? url
    }

    /// Adds a fault from now on.
    public func add(_ fault: Fault) throws { try process.send("fault", fault.message) }

    /// Removes all faults.
    public func clear() throws { try process.send("clear") }

    /// Connections, bytes and packets, and how often each kind of fault struck.
    public func report() throws -> PeerMessage { try process.send("report") }

    /// Ends the proxy and with it every connection.
    public func stop() { process.stop() }
}
