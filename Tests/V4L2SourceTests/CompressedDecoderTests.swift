import Foundation
import InletConvert
import InletCore
import InletFFmpeg
import ReferenceTools
import Testing

@testable import V4L2Source

@Suite struct CompressedDecoderTests {
    /// A JPEG as FFmpeg writes it.
    private static func jpeg(pixelFormat: String) throws -> [UInt8] {
        [UInt8](
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=96x64", "-frames:v", "1", "-pix_fmt", pixelFormat, "-q:v", "2",
                "-f", "mjpeg", "-",
            ]))
    }

    private static func decode(_ bytes: [UInt8]) throws -> CompressedDecoder.Output {
        let decoder = CompressedDecoder(
            codec: "mjpeg", size: ImageSize(width: 96, height: 64), pool: I420BufferPool(capacity: 2))
        return unsafe try bytes.withUnsafeBytes { unsafe try decoder.decode($0, pts: 5) }
    }

    @Test("A 4:2:0 JPEG becomes I420 in one pass, close to what ffmpeg decodes")
    func direct() throws {
        let bytes = try Self.jpeg(pixelFormat: "yuvj420p")
        guard case .picture(let picture) = try Self.decode(bytes) else {
            Issue.record("no I420")
            return
        }
        let folder = try TemporaryFolder()
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path("a.jpg")))
        let expected = try ReferenceCommand.ffmpeg([
            "-f", "mjpeg", "-i", folder.path("a.jpg"), "-pix_fmt", "yuvj420p", "-f", "rawvideo", "-",
        ])
        let actual = picture.packedBytes
        #expect(actual.count == expected.count)
        // Different inverse transforms round differently.
        #expect(zip(actual, expected).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
    }

    @Test("A JPEG that claims to be larger than what was asked for is not decoded, and takes no memory")
    func oversized() throws {
        for pixelFormat in ["yuvj420p", "yuvj422p"] {
            var bytes = try Self.jpeg(pixelFormat: pixelFormat)
            // SOF0: length, precision, height, width.
            let place = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
            bytes.replaceSubrange(place + 5..<place + 9, with: [0x3E, 0x80, 0x3E, 0x80])
            guard case .undecodable = try Self.decode(bytes) else {
                Issue.record("\(pixelFormat): a picture of 16000x16000")
                continue
            }
        }
    }

    @Test("A JPEG with a sampling that libyuv refuses is decoded by libavcodec")
    func fallback() throws {
        guard case .frame(let frame) = try Self.decode(Self.jpeg(pixelFormat: "yuvj422p")) else {
            Issue.record("no frame")
            return
        }
        #expect(frame.size == ImageSize(width: 96, height: 64))
        #expect(frame.bestEffortTimestamp == 5)
    }

    @Test(
        "A picture of a stream comes out as soon as its data is in, as ffmpeg decodes it",
        arguments: [("h264", "libx264"), ("hevc", "libx265")])
    func streams(codec: String, encoder: String) throws {
        let folder = try TemporaryFolder()
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=96x64", "-frames:v", "1", "-pix_fmt", "yuv420p", "-c:v", encoder,
            "-tune", "zerolatency", "-f", codec, folder.path("a"),
        ])
        let expected = try ReferenceCommand.ffmpeg([
            "-f", codec, "-i", folder.path("a"), "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
        ])
        let decoder = CompressedDecoder(
            codec: codec, size: ImageSize(width: 96, height: 64), pool: I420BufferPool(capacity: 2))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("a"))))
        guard case .frame(let frame) = unsafe try bytes.withUnsafeBytes({ unsafe try decoder.decode($0, pts: 7) })
        else {
            Issue.record("no frame")
            return
        }
        #expect(frame.bestEffortTimestamp == 7)
        let source = SourceFrame(
            pixelFormat: .yuv420p, size: frame.size, planes: frame.planes, owner: frame, pts: nil, sequence: 0)
        let converted = try FrameConverter().i420(from: source, pool: I420BufferPool(capacity: 1)).buffer
        #expect(converted.packedBytes.isSame(as: expected))
    }

    @Test("A JPEG that is cut, empty or something else is undecodable, and zeros behind one are not minded")
    func damaged() throws {
        let whole = try Self.jpeg(pixelFormat: "yuvj420p")
        for bytes in [Array(whole.prefix(whole.count / 2)), [], [1, 2, 3, 4, 5, 6], Array(whole.dropFirst(2))] {
            guard case .undecodable = try Self.decode(bytes) else {
                Issue.record("\(bytes.count) bytes were decoded")
                continue
            }
        }
        guard case .picture = try Self.decode(whole + [UInt8](repeating: 0, count: 300)) else {
            Issue.record("zeros behind the picture were minded")
            return
        }
    }
}
