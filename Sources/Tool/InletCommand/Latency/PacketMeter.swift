import Inlet
import Synchronization

/// Counts the packets of a source, which is read without decoding.
final class PacketMeter: PacketSinkConfiguration {
    private let counts = Mutex((packets: UInt64(0), keys: UInt64(0)))

    /// The number of packets so far.
    var packets: UInt64 { counts.withLock { $0.packets } }
    /// The number of packets that decode independently.
    var keys: UInt64 { counts.withLock { $0.keys } }

    var redactedURI: String { "capture" }

    func makePacketSink() -> any PacketSink { Sink(meter: self) }
    func makeSink() -> any FrameSink { Refusal() }

    private final class Sink: PacketSink {
        private let meter: PacketMeter

        init(meter: PacketMeter) { self.meter = meter }

        func start(_ parameters: CodecParameters) {}
        func write(_ packet: EncodedPacket) {
            meter.counts.withLock { counts in
                counts.packets &+= 1
                if packet.isKey { counts.keys &+= 1 }
            }
        }
    }

    private final class Refusal: FrameSink {
        func start(_ format: VideoFormat, _ context: SinkContext) throws {
            throw InletError(.internal, "A packet source delivered a decoded picture.")
        }
        func consume(_ frame: VideoFrame) {}
    }
}
