import Foundation
import InletConvert
import InletCore
import InletDecode
import InletTesting
import Logging
import ReferenceTools
import Testing

@testable import FFmpegSource

/// The frames of a file when fewer are wanted, compared with the ffmpeg command's decoding.
@Suite(.blocking) struct DemandTests {
    private let converter = FrameConverter()
    private let pool = I420BufferPool(capacity: 2)

    /// Six seconds of 30 frames with a key frame a second and reordered pictures in between.
    private func clip(_ folder: TemporaryFolder) throws -> String {
        let path = folder.path("clip.mp4")
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30:duration=6", "-c:v", "libx264", "-bf", "2", "-g", "30",
            "-keyint_min", "30", "-sc_threshold", "0", path,
        ])
        return path
    }

    private func digests(_ path: String, _ options: [String] = []) throws -> [Int64: [UInt8]] {
        let raw = try ReferenceCommand.ffmpeg(
            options + ["-i", path, "-vsync", "0", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        let bytes = [UInt8](raw)
        let size = 320 * 180 * 3 / 2
        return Dictionary(
            uniqueKeysWithValues: (0..<bytes.count / size).map { index in
                (Int64(index), Array(bytes[(index * size)..<(index * size + 320 * 180)]))
            })
    }

    private func open(_ path: String) throws -> (source: any FrameSource, context: SourceContext, ticks: Int64) {
        let source = FFmpegFileConfiguration(path: path).makeSource()
        let context = SourceContext(clock: ManualClock(waiting: .movesTime), logger: Logger(label: "test"))
        let format = try source.open(context)
        return (source, context, MediaTime(ticks: 1, timeBase: Rational(1, 30)).rescaled(to: format.timeBase).ticks)
    }

    private func luma(_ frame: SourceFrame) throws -> [UInt8] {
        let picture = try converter.i420(from: frame, pool: pool).buffer
        return (0..<picture.size.height).flatMap { row in
            let bytes = picture.row(row, of: .y)
            return bytes.indices.map { bytes[$0] }
        }
    }

    @Test("If one frame a second is wanted, the frames are ffmpeg's key frames, unbroken in number")
    func keyFramesOnly() throws {
        let folder = try TemporaryFolder()
        let path = try clip(folder)
        let reference = try digests(path, ["-skip_frame", "nokey"])
        #expect(reference.count == 6)
        let (source, context, ticks) = try open(path)
        defer { source.close() }
        context.setDemand(SourceDemand(maximumFrameRate: Rational(1)))
        var sequence: UInt64 = 0
        var keys: [Int64] = []
        while let frame = try source.next(context)?.frame {
            #expect(frame.sequence == sequence)
            sequence += 1
            let index = try #require(frame.pts?.ticks) / ticks
            keys.append(index)
            #expect(try luma(frame) == reference[index / 30])
        }
        // The file's index gives their distances in advance.
        #expect(keys == [0, 30, 60, 90, 120, 150])
    }

    @Test("A demand that comes and goes never yields a broken picture")
    func changes() throws {
        let folder = try TemporaryFolder()
        let path = try clip(folder)
        let reference = try digests(path)
        #expect(reference.count == 180)
        let (source, context, ticks) = try open(path)
        defer { source.close() }
        context.setDemand(SourceDemand(maximumFrameRate: Rational(1)))
        var seen: [Int64] = []
        while let frame = try source.next(context)?.frame {
            let index = try #require(frame.pts?.ticks) / ticks
            #expect(seen.last.map { $0 < index } ?? true)
            seen.append(index)
            #expect(try luma(frame) == reference[index])
            if index == 90 { context.setDemand(.everything) }
        }
        #expect(seen.filter { (61..<120).contains($0) } == [90])
        #expect(seen.filter { $0 >= 120 } == Array(120..<180))
    }

    @Test("A pause loses no frame")
    func pause() throws {
        let folder = try TemporaryFolder()
        let (source, context, _) = try open(try clip(folder))
        defer { source.close() }
        var sequence: UInt64 = 0
        while let frame = try source.next(context)?.frame {
            #expect(frame.sequence == sequence)
            sequence += 1
            if sequence == 50 {
                #expect(try source.pause(context))
                try source.resume(context)
            }
        }
        #expect(sequence == 180)
    }
}
