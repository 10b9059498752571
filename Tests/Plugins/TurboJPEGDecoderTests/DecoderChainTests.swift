import FFmpegSource
import Foundation
import InletCore
import InletDecode
import InletFFmpeg
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing
import TurboJPEGDecoder

/// The decoder in use with a file of Motion JPEG.
@Suite(.blocking) struct DecoderChainTests {
    private static let size = ImageSize(width: 96, height: 64)

    /// The formats of a file's pictures, the drops, and the decoders that failed.
    private func play(_ jpegs: [[UInt8]]) throws -> (
        formats: [String], drops: [DropReason: UInt64], failures: [String]
    ) {
        let folder = try TemporaryFolder()
        let path = folder.path("clip.mjpeg")
        try Data(jpegs.flatMap(\.self)).write(to: URL(fileURLWithPath: path))
        var configuration = FFmpegFileConfiguration(path: path)
        configuration.decoders = [.libavcodec, .turboJPEG]
        configuration.decoder = "turbojpeg"
        let failures = Mutex([String]())
        let context = SourceContext(
            clock: ManualClock(waiting: .movesTime), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onDecoderFailure: { name, error, next in failures.withLock { $0.append("\(name) \(error.code) \(next)") } })
        let source = configuration.makeSource()
        defer { source.close() }
        _ = try source.open(context)
        var formats: [String] = []
        while let item = try source.next(context) {
            if let frame = item.frame { formats.append(frame.pixelFormat.name) }
        }
        return (formats, context.dropCounts, failures.withLock { $0 })
    }

    @Test("After eight JPEGs in a row of a kind that it does not decode, libavcodec continues with the next")
    func fallback() throws {
        let plain = try JPEGSamples.ffmpeg(Self.size, "yuvj422p")
        let colors = try JPEGSamples.cjpeg(Self.size, ["-rgb"])
        let found = try play([plain, plain, colors, plain] + [[UInt8]](repeating: colors, count: 8) + [plain])
        #expect(found.formats == ["yuvj422p", "yuvj422p", "yuvj422p", "yuvj422p"])
        #expect(found.drops == [.undecodable: 9])
        #expect(found.failures == ["turbojpeg unsupported ffmpeg"])
    }

    @Test("A JPEG whose data is damaged is counted, and the next is decoded by the same decoder")
    func damaged() throws {
        let plain = try JPEGSamples.ffmpeg(Self.size, "yuvj420p")
        // A bad code early in the scan loses its remainder.
        var damaged = plain
        let scan = try #require(damaged.indices.dropLast().first { damaged[$0] == 0xFF && damaged[$0 + 1] == 0xDA })
        let middle = (scan + damaged.count) / 2
        damaged.replaceSubrange(middle..<damaged.count - 2, with: [UInt8](repeating: 0, count: 3))
        let found = try play([plain, damaged, plain])
        #expect(found.formats == ["yuvj420p", "yuvj420p"])
        #expect(found.drops == [.undecodable: 1])
        #expect(found.failures.isEmpty)
    }
}
