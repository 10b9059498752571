import InletCore
import Logging

/// A source that follows the script that its address names.
final class ScriptedSource: FrameSource {
    private let configuration: ScriptedConfiguration
    private var number: UInt64 = 0

    init(_ configuration: ScriptedConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        switch configuration.script {
        case "missing":
            var error = InletError(.notFound, "The camera is missing.", context: .init(nativeCode: 19))
            error.retryAfter = .seconds(3)
            throw error
        case "slow": try context.sleep(until: context.deadline + .seconds(1))
        default: break
        }
        var format = SourceFormat(
            size: ImageSize(width: 3, height: 2), pixelFormat: .gray, frameRate: Rational(30000, 1001),
            timeBase: Rational(1, 90000), colorSpace: .bt709, rotation: .clockwise90, pacing: .live, timestampBits: 32)
        if configuration.script == "packets" { format.packetStream = PacketStream(parameters(Self.firstSets)) }
        return format
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        defer { number += 1 }
        switch configuration.script {
        case "end": return nil
        case "blocks":
            try context.sleep(until: .distantFuture)
            return nil
        case "deaf":
            // Like a library that cannot be interrupted. The wait ends by itself.
            _ = context.clock.wait(until: context.clock.now + .seconds(2), wakeUpDescriptor: -1)
            throw InletError(.disconnected, "The library came back.")
        case "late" where number == 1: try context.sleep(until: context.clock.now + .milliseconds(300))
        case "fails": throw InletError(.disconnected, "The cable is out.")
        case "notes":
            context.reportProgress()
            context.countDrop(.damaged, 2)
            context.beginInterruption("the shutter is shut")
            context.logger.warning("a line", metadata: ["number": "\(number)"])
        case "demand":
            let demand = context.demand
            let text = "demand \(demand.maximumFrameRate ?? Rational(0)) \(demand.packets) \(context.keyFrameRequests)"
            return .frame(frame(Array(text.utf8)))
        case "options":
            return .frame(frame(Array("options \(configuration.count) \(configuration.secret ?? "none")".utf8)))
        case "packets": return .packet(packet())
        default: break
        }
        return .frame(frame([1, 2, 3, 9, 4, 5, 6].map { $0 + UInt8(truncatingIfNeeded: number) }))
    }

    func pause(_ context: SourceContext) throws -> Bool { configuration.script != "restless" }

    // A source that ignores cancellations is closed long after its test has ended.
    func close() { if configuration.script != "deaf" { Ledger.shared.closed() } }

    private static let firstSets: [UInt8] = [0, 0, 0, 1, 0x67]
    private static let laterSets: [UInt8] = [0, 0, 0, 1, 0x67, 0x42]

    private func parameters(_ sets: [UInt8]) -> CodecParameters {
        CodecParameters(
            codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 90000), extraData: sets)
    }

    private func packet() -> SourcePacket {
        SourcePacket(
            parameters: parameters(number < 2 ? Self.firstSets : Self.laterSets),
            data: PacketData([0, 0, 1, 0x65, UInt8(truncatingIfNeeded: number)]),
            pts: MediaTime(ticks: Int64(number) + 2, timeBase: Rational(1, 30)),
            dts: MediaTime(ticks: Int64(number), timeBase: Rational(1, 30)), flags: number == 0 ? .key : .loss)
    }

    /// Returns a grey picture. Seven bytes are two rows of three pixels with a byte between them.
    private func frame(_ bytes: [UInt8]) -> SourceFrame {
        let memory = PictureMemory(bytes)
        var planes = SourcePlanes()
        let isPicture = bytes.count == 7
        unsafe planes.append(SourcePlane(UnsafeRawBufferPointer(memory.bytes), stride: isPicture ? 4 : bytes.count))
        var frame = SourceFrame(
            pixelFormat: .gray,
            size: isPicture ? ImageSize(width: 3, height: 2) : ImageSize(width: bytes.count, height: 1),
            planes: planes, owner: memory, pts: MediaTime(ticks: Int64(number), timeBase: Rational(1, 30)),
            duration: MediaTime(ticks: 1, timeBase: Rational(1, 30)), sequence: number, colorSpace: .bt709,
            rotation: .clockwise90, flags: [.key, .corrupt], sampleAspectRatio: Rational(4, 3))
        frame.captureTime = MonotonicTime(nanoseconds: 77)
        frame.wallClock = 88
        return frame
    }
}
