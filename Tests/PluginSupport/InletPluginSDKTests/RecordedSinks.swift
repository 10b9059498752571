import InletCore
import Synchronization

/// The items that the sinks of these tests have received.
final class SinkRecord: Sendable {
    static let shared = SinkRecord()

    private let state = Mutex((lines: [String](), frames: [VideoFrame]()))

    /// Appends a line, and keeps a frame.
    func append(_ line: String, _ frame: VideoFrame? = nil) {
        state.withLock { state in
            state.lines.append(line)
            if let frame { state.frames.append(frame) }
        }
    }

    /// Returns the lines and frames so far, and forgets them.
    func take() -> (lines: [String], frames: [VideoFrame]) {
        state.withLock { state in
            defer { state = ([], []) }
            return state
        }
    }
}

/// A sink of pictures, as in an application, that keeps its items. Its address selects additional behaviour.
final class RecordedPictures: FrameSink, FrameSinkConfiguration, Sendable {
    let script: String
    let wants = SinkWants(
        largestSize: ImageSize(width: 640, height: 360), rotation: .applied, maximumFrameRate: Rational(15, 2))
    var redactedURI: String { "pictures:\(script)" }

    init(_ script: String) { self.script = script }

    func makeSink() -> any FrameSink { RecordedPictures(script) }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        SinkRecord.shared.append(
            "start \(format.size) \(format.timeBase) \(format.frameRate?.description ?? "-") \(format.rotation.rawValue)"
        )
    }

    func consume(_ frame: VideoFrame) throws {
        if script == "fails" {
            throw InletError(.resourceExhausted, "The disk is full.", context: .init(nativeCode: 28))
        }
        if script == "stops" { throw SinkStopped() }
        SinkRecord.shared.append(
            "frame \(frame.size) \(frame.pts?.ticks ?? -1) \(frame.sequence) \(frame.timestamp.nanoseconds)", frame)
    }

    func finish() { SinkRecord.shared.append("finish") }
}

/// A sink of packets that accepts only a key frame as its second packet.
final class RecordedPackets: PacketSink, PacketSinkConfiguration, Sendable {
    private let count = Mutex(0)
    var redactedURI: String { "packets:" }

    func makeSink() -> any FrameSink { RecordedPictures("") }

    func makePacketSink() -> any PacketSink { RecordedPackets() }

    func start(_ parameters: CodecParameters) {
        SinkRecord.shared.append("start \(parameters.codec) \(parameters.timeBase) \(parameters.extraData)")
    }

    func write(_ packet: EncodedPacket) throws {
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number != 2 || packet.isKey else { throw KeyFrameNeeded() }
        let bytes = (0..<packet.data.count).map { packet.data.bytes[$0] }
        SinkRecord.shared.append("packet \(bytes) \(packet.pts.ticks) \(packet.dts.ticks) \(packet.isKey)")
    }

    func finish() { SinkRecord.shared.append("finish") }
}

extension SinkPlugin {
    static let pictures = SinkPlugin(
        PluginInfo(
            name: "Pictures", schemes: ["pictures"], summary: "Keeps pictures.", usage: "pictures:", options: [],
            examples: [])
    ) { uri, _ in RecordedPictures(uri.rest) }

    static let packets = SinkPlugin(
        PluginInfo(
            name: "Packets", schemes: ["packets"], summary: "Keeps packets.", usage: "packets:", options: [],
            examples: [])
    ) { _, _ in RecordedPackets() }
}
