import Foundation
import InletConvert
import InletCore
import InletDecode
import InletFFmpeg
import ReferenceTools
import Testing

@testable import V4L2Source

@Suite(.blocking) struct CompressedStreamTests {
    private static let size = ImageSize(width: 96, height: 64)

    /// ffmpeg's encoded output, unchanged.
    private static func encoded(_ arguments: [String], frames: Int = 1) throws -> [UInt8] {
        let input = ["-f", "lavfi", "-i", "testsrc2=size=96x64", "-frames:v", "\(frames)"]
        return [UInt8](try ReferenceCommand.ffmpeg(input + arguments + ["-"]))
    }

    private static func jpeg(pixelFormat: String) throws -> [UInt8] {
        try encoded(["-pix_fmt", pixelFormat, "-q:v", "2", "-f", "mjpeg"])
    }

    private static func stream(_ codec: VideoCodec = .mjpeg) -> CompressedStream {
        CompressedStream(CodecParameters(codec: codec, size: size, timeBase: Rational(1, 1_000_000)))
    }

    /// The result for a buffer.
    private struct Packet {
        var data: PacketData
        var parameters: CodecParameters
        var flags: PacketFlags
        var bytes: [UInt8] { data.bytes.indices.map { data.bytes[$0] } }
    }

    private static func packet(
        _ bytes: [UInt8], of stream: CompressedStream, isKey: Bool = false, isDamaged: Bool = false
    ) -> Packet? {
        let output = unsafe bytes.withUnsafeBytes {
            unsafe stream.packet(of: $0, isKey: isKey, isDamaged: isDamaged)
        }
        guard case .packet(let data, let parameters, let flags) = output else { return nil }
        return Packet(data: data, parameters: parameters, flags: flags)
    }

    private static func isUndecodable(_ bytes: [UInt8]) -> Bool {
        let output = unsafe bytes.withUnsafeBytes {
            unsafe stream().packet(of: $0, isKey: false, isDamaged: false)
        }
        if case .undecodable = output { return true }
        return false
    }

    /// The access units of an H.264 or HEVC stream with delimiters, and the parameter sets before the first slice.
    private static func units(_ bytes: [UInt8], delimiter: UInt8) -> [[UInt8]] {
        var starts: [Int] = []
        for index in bytes.indices.dropLast(5)
        where bytes[index..<index + 4].elementsEqual([0, 0, 0, 1]) && bytes[index + 4] == delimiter {
            starts.append(index)
        }
        return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }

    @Test("A JPEG becomes one packet without the trailing zeros of cameras, and states its own size")
    func jpeg() throws {
        let bytes = try Self.jpeg(pixelFormat: "yuvj420p")
        let found = try #require(Self.packet(bytes + [UInt8](repeating: 0, count: 300), of: Self.stream()))
        #expect(found.bytes == bytes)
        #expect(found.flags == .key)
        #expect(found.parameters.size == Self.size)
        // The padding that libraries read after the end.
        let end = unsafe found.data.storage.memory.baseAddress.map { unsafe $0 + bytes.count }
        let padding = unsafe [UInt8](UnsafeRawBufferPointer(start: end, count: 64))
        #expect(padding == [UInt8](repeating: 0, count: 64))
    }

    @Test("A JPEG that is truncated, empty or something else is undecodable")
    func damaged() throws {
        let whole = try Self.jpeg(pixelFormat: "yuvj420p")
        for bytes in [
            Array(whole.prefix(whole.count / 2)), [], [1, 2, 3, 4, 5, 6], Array(whole.dropFirst(2)),
            [0xFF, 0xD8, 0xFF, 0xD9, 0], [UInt8](repeating: 0, count: 500),
        ] { #expect(Self.isUndecodable(bytes), "\(bytes.count) bytes") }
    }

    @Test("A JPEG that states a larger size than requested gives no packet")
    func oversized() throws {
        for pixelFormat in ["yuvj420p", "yuvj422p"] {
            var bytes = try Self.jpeg(pixelFormat: pixelFormat)
            // SOF0: length, precision, height, width.
            let place = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
            bytes.replaceSubrange(place + 5..<place + 9, with: [0x3E, 0x80, 0x3E, 0x80])
            #expect(Self.isUndecodable(bytes))
        }
    }

    @Test("A JPEG that the driver marks as damaged is marked, and the one after a lost one is not")
    func marked() throws {
        let bytes = try Self.jpeg(pixelFormat: "yuvj422p")
        let stream = Self.stream()
        #expect(Self.packet(bytes, of: stream, isDamaged: true)?.flags == [.key, .loss])
        stream.noteLoss()
        #expect(Self.packet(bytes, of: stream)?.flags == .key)
    }

    @Test(
        "The key frames of a stream are found, and packets after a lost picture are marked up to the next of them",
        arguments: [(VideoCodec.h264, "libx264", UInt8(9)), (.hevc, "libx265", UInt8(70))])
    func keys(codec: VideoCodec, encoder: String, delimiter: UInt8) throws {
        let parameters = encoder == "libx264" ? ["-x264-params", "aud=1"] : ["-x265-params", "aud=1:log-level=none"]
        let bytes = try Self.encoded(
            ["-c:v", encoder, "-tune", "zerolatency", "-g", "4"] + parameters + ["-f", codec.rawValue], frames: 9)
        let units = Self.units(bytes, delimiter: delimiter)
        try #require(units.count == 9)
        let stream = Self.stream(codec)
        var found = units.map { Self.packet($0, of: stream) }
        #expect(found.map { $0?.flags.contains(.key) } == (0..<9).map { $0 % 4 == 0 })
        #expect(found.map { $0?.bytes } == units)
        #expect(found.first??.parameters.extraData.isEmpty == false)
        stream.noteLoss()
        found = units.dropFirst().map { Self.packet($0, of: stream) }
        #expect(found.map { $0?.flags } == [.loss, [], [], .key, [], [], [], .key])
        stream.noteLoss()
        #expect(Self.packet(units[0], of: stream)?.flags == .key)
    }

    @Test("Parameter sets in a separate buffer precede the next picture")
    func header() throws {
        let bytes = try Self.encoded(["-c:v", "libx264", "-tune", "zerolatency", "-x264-params", "aud=0", "-f", "h264"])
        // NAL units in Annex B: those before the first slice (type 5), which x264's own message (6) may precede.
        let slice = try #require(
            bytes.indices.dropLast(4).first {
                bytes[$0..<$0 + 3].elementsEqual([0, 0, 1]) && [5, 6].contains(bytes[$0 + 3] & 0x1F)
            })
        let stream = Self.stream(.h264)
        #expect(Self.packet(Array(bytes[..<slice]), of: stream) == nil)
        let found = try #require(Self.packet(Array(bytes[slice...]), of: stream))
        #expect(found.bytes == bytes)
        #expect(found.flags == .key)
    }

    @Test(
        "Packets are decoded to ffmpeg's pictures, each as soon as it arrives",
        arguments: [
            ("h264", ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency"]),
            ("hevc", ["-pix_fmt", "yuv420p", "-c:v", "libx265", "-tune", "zerolatency"]),
            ("mjpeg", ["-pix_fmt", "yuvj420p", "-q:v", "2"]),
        ])
    func decoded(codec: String, encoding: [String]) throws {
        let bytes = try Self.encoded(encoding + ["-f", codec])
        let folder = try TemporaryFolder()
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path("a")))
        let expected = try ReferenceCommand.ffmpeg([
            "-f", codec, "-i", folder.path("a"), "-pix_fmt", encoding[1], "-f", "rawvideo", "-",
        ])
        let found = try #require(Self.packet(bytes, of: Self.stream(VideoCodec(rawValue: codec))))
        let decoder = try FFmpegVideoDecoder()
        var settings = DecoderSettings()
        (settings.threads, settings.isLowDelay) = (1, true)
        try decoder.open(found.parameters, settings)
        let pts = MediaTime(ticks: 7, timeBase: found.parameters.timeBase)
        let packet = SourcePacket(
            parameters: found.parameters, data: found.data, pts: pts, dts: nil, flags: found.flags)
        #expect(try decoder.send(packet) == nil)
        guard case .picture(let picture) = try decoder.receive() else {
            Issue.record("no picture")
            return
        }
        #expect(picture.pts == pts)
        let converted = try FrameConverter().i420(from: picture, pool: I420BufferPool(capacity: 1)).buffer
        #expect(converted.packedBytes.isSame(as: expected))
    }
}
