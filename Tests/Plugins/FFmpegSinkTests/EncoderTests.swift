import FFmpegSink
import InletCore
import ReferenceTools
import Testing

@Suite(.tags(.encoder), .blocking) struct EncoderTests {
    private func encode(
        _ settings: EncoderSettings, count: Int, keys: Set<Int> = [],
        change: (Int, (any VideoEncoder) throws -> Void)? = nil
    ) throws -> [EncodedPacket] {
        let pictures = try Recording.pictures(count: count)
        let encoder = FFmpegVideoEncoder()
        _ = try encoder.open(Recording.format(pictures.size), settings)
        var packets: [EncodedPacket] = []
        for index in 0..<count {
            if let change, change.0 == index { try change.1(encoder) }
            let frame = try Recording.frame(pictures.padded(index), index, at: Double(index) / 30)
            packets += try encoder.encode(frame, wantsKeyFrame: keys.contains(index))
        }
        return try packets + encoder.flush()
    }

    @Test(
        "With the tunings realtime and conversation each picture gives a packet at once",
        // SVT-AV1 works in its own pipeline and is a few pictures behind.
        arguments: FFmpegVideoEncoder.codecs.filter { $0 != .av1 }, [EncoderSettings.Preset.realtime, .conversation])
    func noDelay(_ codec: VideoCodec, _ preset: EncoderSettings.Preset) throws {
        let pictures = try Recording.pictures(count: 8)
        let encoder = FFmpegVideoEncoder()
        _ = try encoder.open(Recording.format(pictures.size), EncoderSettings(codec: codec, preset: preset))
        for index in 0..<8 {
            let frame = try Recording.frame(pictures.padded(index), index, at: Double(index) / 30)
            let packets = try encoder.encode(frame, wantsKeyFrame: false)
            #expect(packets.map(\.captureTime) == [frame.timestamp], "picture \(index)")
        }
        #expect(try encoder.flush().isEmpty)
    }

    @Test(
        "Key frames are made on request, and when the interval is over",
        arguments: [
            VideoCodec.h264, .hevc, .vp8, .vp9,
        ])
    func keyFrames(_ codec: VideoCodec) throws {
        let settings = EncoderSettings(codec: codec, keyFrameInterval: .seconds(1))
        let packets = try encode(settings, count: 70, keys: [10])
        #expect(packets.enumerated().filter(\.element.isKey).map(\.offset) == [0, 10, 40])
    }

    @Test(
        "A bit rate is kept to within a quarter", arguments: FFmpegVideoEncoder.codecs.filter { $0 != .ffv1 },
        [
            100_000, 250_000,
        ])
    func bitrate(_ codec: VideoCodec, _ bits: Int) throws {
        let packets = try encode(EncoderSettings(codec: codec, rate: .bitrate(bits)), count: 120)
        let rate = packets.reduce(0) { $0 + $1.data.count } * 8 / 4
        // A JPEG's size is determined by its quantizer, and small pictures are too large at its limit.
        if codec == .mjpeg { return }
        #expect(Double(rate) > 0.7 * Double(bits) && Double(rate) < 1.3 * Double(bits), "\(rate)")
    }

    @Test("libx264 continues with another bit rate without a key frame")
    func bitrateChange() throws {
        let settings = EncoderSettings(rate: .bitrate(400_000), keyFrameInterval: .seconds(60))
        let packets = try encode(
            settings, count: 120, change: (60, { try $0.change(bitrate: 100_000, frameRate: nil) }))
        let rates = [packets[15..<60], packets[75..<120]].map { $0.reduce(0) { $0 + $1.data.count } * 8 * 30 / 45 }
        #expect(rates[0] > 280_000 && rates[1] < 150_000, "\(rates)")
        #expect(packets.filter(\.isKey).count == 1)
    }

    @Test(
        "The bit rate of a conversation is a ceiling, over seconds and after a change",
        arguments: [VideoCodec.h264, .vp8])
    func ceiling(_ codec: VideoCodec) throws {
        let settings = EncoderSettings(
            codec: codec, rate: .bitrate(250_000), preset: .conversation, keyFrameInterval: .seconds(60))
        let packets = try encode(
            settings, count: 120,
            change: (60, { if codec == .h264 { try $0.change(bitrate: 100_000, frameRate: nil) } }))
        let seconds = stride(from: 0, to: 120, by: 30).map { start in
            packets[start..<start + 30].reduce(0) { $0 + $1.data.count } * 8
        }
        #expect(seconds[0] < 375_000 && seconds[1] < 325_000, "\(seconds)")
        if codec == .h264 { #expect(seconds[3] < 150_000, "\(seconds)") }
        #expect(packets.filter(\.isKey).count == 1)
    }

    @Test("An encoder that cannot change its bit rate reports so")
    func unsupportedChange() throws {
        #expect(throws: InletError.self) {
            try encode(
                EncoderSettings(codec: .hevc, rate: .bitrate(300_000)), count: 2,
                change: (
                    1,
                    {
                        try $0.change(bitrate: 100_000, frameRate: nil)
                    }
                ))
        }
    }

    @Test("PTS and DTS are in order: DTS grows and is never after its PTS", arguments: FFmpegVideoEncoder.codecs)
    func order(_ codec: VideoCodec) throws {
        let packets = try encode(EncoderSettings(codec: codec, preset: .balanced), count: 30)
        #expect(packets.count == 30)
        for (before, after) in zip(packets, packets.dropFirst()) { #expect(before.dts < after.dts) }
        #expect(packets.allSatisfy { $0.dts <= $0.pts })
        #expect(packets.map(\.pts.ticks).sorted() == (0..<30).map { Int64($0) * 3000 })
    }
}
