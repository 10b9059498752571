#if GStreamer
import InletCore
import InletRTC
import ReferenceTools
import Testing

@testable import WebRTCSink

@Suite struct RunningEncodingTests {
    /// Makes a packet for each picture, and keeps the parameters of its opening.
    private final class Fake: VideoEncoder {
        let steers: Bool
        private(set) var opened: [(size: ImageSize, rate: EncoderSettings.Rate, frameRate: Rational?)] = []
        private(set) var changes: [Int] = []

        init(steers: Bool) { self.steers = steers }

        func open(_ format: VideoFormat, _ settings: EncoderSettings) throws -> CodecParameters {
            opened.append((format.size, settings.rate, format.frameRate))
            return CodecParameters(codec: settings.codec, size: format.size, timeBase: format.timeBase)
        }
        func encode(_ frame: VideoFrame, wantsKeyFrame: Bool) throws -> [EncodedPacket] { [] }
        func change(bitrate: Int?, frameRate: Rational?) throws {
            guard steers else { throw InletError(.unsupported, "It cannot.") }
            if let bitrate { changes.append(bitrate) }
        }
        func flush() throws -> [EncodedPacket] { [] }
    }

    private let full = PictureLadder.allSteps[0]

    private func frame(_ seconds: Double, size: ImageSize = ImageSize(width: 64, height: 48)) throws -> VideoFrame {
        VideoFrame(
            buffer: try I420Draft(size: size).publish(),
            timestamp: MonotonicTime(nanoseconds: Int64(seconds * 1e9)), sequence: 0)
    }

    private func order(_ bitrate: Int, _ step: PictureLadder.Step? = nil) -> ViewerHub.Order {
        ViewerHub.Order(
            encoding: EncodingID(codec: .vp8, tier: 0), bitrate: bitrate, step: step ?? full, wantsKeyFrame: false,
            isPaused: false)
    }

    @Test("An encoder that follows its bit rate is opened once")
    func steered() throws {
        let fake = Fake(steers: true)
        let encoding = RunningEncoding(fake, EncoderSettings(codec: .h264))
        for (index, bitrate) in [500_000, 500_000, 400_000, 100_000].enumerated() {
            _ = try encoding.encode(frame(Double(index)), order(bitrate), rate: Rational(30)) {}
        }
        #expect(fake.opened.map(\.rate) == [.bitrate(500_000)])
        #expect(fake.changes == [400_000, 100_000])
    }

    @Test("Another encoder is reopened: soon for a much lower rate, later for a much higher one, else never")
    func reopened() throws {
        let fake = Fake(steers: false)
        let encoding = RunningEncoding(fake, EncoderSettings(codec: .vp8))
        var restarts = 0
        for (seconds, bitrate) in [
            (0, 500_000), (1, 450_000), (2, 400_000), (2.1, 300_000), (3, 300_000), (4, 500_000), (7, 500_000),
            (20, 600_000),
        ] {
            _ = try encoding.encode(frame(seconds), order(bitrate), rate: Rational(30)) { restarts += 1 }
        }
        let rates: [EncoderSettings.Rate] = [500_000, 400_000, 300_000, 500_000].map { .bitrate($0) }
        #expect(fake.opened.map(\.rate) == rates)
        #expect(restarts == 4)
    }

    @Test("Another size or frame rate reopens the encoder, which is reported before the first packet")
    func formats() throws {
        let fake = Fake(steers: true)
        let encoding = RunningEncoding(fake, EncoderSettings(codec: .h264))
        var restarts = 0
        let small = ImageSize(width: 32, height: 24)
        _ = try encoding.encode(frame(0), order(500_000), rate: Rational(30)) { restarts += 1 }
        _ = try encoding.encode(frame(1, size: small), order(500_000), rate: Rational(30)) { restarts += 1 }
        let rare = PictureLadder.allSteps[3]
        _ = try encoding.encode(frame(2, size: small), order(500_000, rare), rate: Rational(30)) { restarts += 1 }
        #expect(fake.opened.map(\.size) == [ImageSize(width: 64, height: 48), small, small])
        #expect(fake.opened.map(\.frameRate) == [Rational(30), Rational(30), Rational(15)])
        #expect(restarts == 3)
    }

    @Test("Half of the pictures are every second one, except for key frames")
    func pictures() throws {
        let encoding = RunningEncoding(Fake(steers: true), EncoderSettings(codec: .h264))
        let rare = PictureLadder.allSteps[3]
        _ = try encoding.encode(frame(0), order(500_000, rare), rate: nil) {}
        #expect(
            (0..<6).map { _ in encoding.takes(rare, wantsKeyFrame: false) } == [
                true, false, true, false, true, false,
            ])
        #expect((0..<2).allSatisfy { _ in encoding.takes(rare, wantsKeyFrame: true) })
        #expect((0..<4).allSatisfy { _ in encoding.takes(full, wantsKeyFrame: false) })
    }
}
#endif
