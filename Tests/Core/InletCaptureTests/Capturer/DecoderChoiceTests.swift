import InletCore
import InletDecode
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// The choice of a decoder, and the fallback if one fails.
@Suite(.timeLimit(.minutes(1))) struct DecoderChoiceTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 100), profile: 66)

    /// A record of the decoders' work: each decoder's name, and the number of each packet that it decoded.
    private final class Log: Sendable {
        let pictures = Mutex<[(name: String, number: Int64)]>([])
        var names: [String] { pictures.withLock { $0.map(\.name) } }
        var numbers: [Int64] { pictures.withLock { $0.map(\.number) } }
    }

    /// Forty packets, every tenth a key frame, as fast as they are consumed.
    private struct Recording: PacketSourceConfiguration {
        let redactedURI = "recording:"
        var decoders: [DecoderPlugin]
        var decoder: String?
        var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder) }

        func makePacketSource() -> any FrameSource { Source() }

        private final class Source: FrameSource {
            private var next: Int64 = 0

            func open(_ context: SourceContext) throws -> SourceFormat {
                SourceFormat(packets: parameters, pacing: .unpaced)
            }

            func next(_ context: SourceContext) throws -> SourceItem? {
                guard next < 40 else { return nil }
                defer { next += 1 }
                let time = MediaTime(ticks: next, timeBase: parameters.timeBase)
                return .packet(
                    SourcePacket(
                        parameters: parameters, data: PacketData([1]), pts: time, dts: time,
                        flags: next % 10 == 0 ? .key : []))
            }

            func close() {}
        }
    }

    /// Decodes a number of packets and fails at the next.
    private final class Mortal: VideoDecoder {
        private let name: String
        private let life: Int
        private let log: Log
        private let opens: Bool
        private var count = 0
        private var waiting: SourcePacket?
        private var isDrained = false
        var reorderDepth: Int { 0 }
        var skipsNonReferencePictures = false

        init(_ name: String, _ life: Int, opens: Bool, _ log: Log) {
            (self.name, self.life, self.opens, self.log) = (name, life, opens, log)
        }

        func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {
            if !opens { throw InletError(.busy, "The device is taken.") }
        }

        func send(_ packet: SourcePacket) throws -> PacketFault? {
            guard count < life else { throw InletError(.disconnected, "The device is gone.") }
            count += 1
            waiting = packet
            return nil
        }

        func receive() throws -> DecoderOutput {
            guard let packet = waiting else { return isDrained ? .ended : .needsPacket }
            waiting = nil
            log.pictures.withLock { $0.append((name, packet.pts?.ticks ?? -1)) }
            let picture = try I420Draft(size: parameters.size).publish()
            return .picture(SourceFrame(picture, pts: packet.pts, sequence: 0, flags: packet.isKey ? .key : []))
        }

        func drain() { isDrained = true }
        func reset() { (waiting, isDrained) = (nil, false) }
    }

    private static func plugin(
        _ name: String, preference: Int = 0, life: Int = .max, opens: Bool = true, codecs: Set<VideoCodec> = [.h264],
        _ log: Log
    ) -> DecoderPlugin {
        DecoderPlugin(
            name, summary: "", preference: preference, decodes: { codecs.contains($0) },
            makeDecoder: { Mortal(name, life, opens: opens, log) })
    }

    /// The pictures that a sink received, and the reported decoders.
    private static func run(
        _ decoders: [DecoderPlugin], wanted: String? = nil
    ) async throws -> (numbers: [Int64], failures: [String], drops: [DropReason: UInt64]) {
        let capturer = Capturer(Recording(decoders: decoders, decoder: wanted))
        let events = capturer.events
        let frames = try await capturer.run { frames in
            var numbers: [Int64] = []
            for try await frame in frames { numbers.append(frame.pts?.ticks ?? -1) }
            return numbers
        }
        var failures: [String] = []
        for await event in events {
            if case .decoderFailed(let name, let error, let next) = event {
                failures.append("\(name) \(error.code) \(next)")
            }
        }
        return (frames, failures, capturer.statistics.drops)
    }

    @Test("The decoder with the highest preference for the codec is first, unless another is named")
    func order() async throws {
        let log = Log()
        let decoders = [
            Self.plugin("plain", log), Self.plugin("quick", preference: 5, log),
            Self.plugin("other", preference: 9, codecs: [.hevc], log),
        ]
        let (numbers, failures, _) = try await Self.run(decoders)
        #expect(numbers == Array(0..<40))
        #expect(failures == [])
        #expect(Set(log.names) == ["quick"])
        let named = Log()
        _ = try await Self.run(
            [Self.plugin("plain", named), Self.plugin("quick", preference: 5, named)], wanted: "plain")
        #expect(Set(named.names) == ["plain"])
    }

    @Test("A decoder that cannot be opened is replaced by the next, and both are reported")
    func unopened() async throws {
        let log = Log()
        let (numbers, failures, _) = try await Self.run([
            Self.plugin("plain", log), Self.plugin("taken", preference: 5, opens: false, log),
        ])
        #expect(numbers == Array(0..<40))
        #expect(failures == ["taken busy plain"])
        #expect(Set(log.names) == ["plain"])
    }

    @Test(
        "A decoder that fails in mid-stream is replaced at the next key frame, and the packets between are counted")
    func fails() async throws {
        let log = Log()
        let (numbers, failures, drops) = try await Self.run([
            Self.plugin("plain", log), Self.plugin("dying", preference: 5, life: 13, log),
        ])
        #expect(numbers == Array(0..<13) + Array(20..<40))
        #expect(failures == ["dying disconnected plain"])
        #expect(log.numbers == numbers)
        #expect(log.names == Array(repeating: "dying", count: 13) + Array(repeating: "plain", count: 20))
        #expect(drops == [.undecodable: 7])
    }

    @Test("The run fails with the last decoder's error if none is left, and if none supports the codec")
    func none() async throws {
        let log = Log()
        await #expect(throws: InletError.self) {
            try await Self.run([
                Self.plugin("plain", life: 3, log), Self.plugin("dying", preference: 5, life: 13, log),
            ])
        }
        #expect(log.numbers == Array(0..<13) + [20, 21, 22])
        let error = await #expect(throws: InletError.self) {
            try await Self.run([Self.plugin("other", codecs: [.hevc], log)])
        }
        #expect(error?.code == .unsupported)
    }
}
