import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import FFmpegFilter

/// Pictures of every layout through bwdif, compared with the ffmpeg command.
@Suite(.blocking) struct DeinterlacingTests {
    private let size = ImageSize(width: 100, height: 72)
    private static let graph = "testsrc2=size=100x72:rate=50,format=yuv420p,tinterlace=interleave_top"

    private func pictures(_ count: Int, _ filter: String = "null") throws -> ReferencePictures {
        // tinterlace states a rate by which ffmpeg would repeat pictures.
        let bytes = try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "\(Self.graph),\(filter)", "-fps_mode", "passthrough", "-frames:v", "\(count)"]
                + ["-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])
        return ReferencePictures(bytes, size: size)
    }

    private func expected(_ count: Int) throws -> ReferencePictures {
        // The graph continues after the last picture, so that picture also has a successor.
        try pictures(count, "setfield=tff,bwdif=mode=send_frame")
    }

    private func frame(_ buffer: I420Buffer, _ number: UInt64) -> SourceFrame {
        let time = MediaTime(ticks: Int64(number), timeBase: Rational(1, 25))
        var frame = SourceFrame(buffer, pts: time, sequence: number)
        frame.fieldOrder = .topFirst
        return frame
    }

    private func bytes(_ frame: SourceFrame) throws -> Data {
        try #require(frame.pixelFormat == .yuv420p)
        var data = Data()
        for index in 0..<3 {
            let plane = try #require(frame.planes[index])
            let part = index == 0 ? frame.size : frame.size.chroma
            try #require(plane.holds(rows: part.height, of: part.width))
            guard let top = unsafe plane.topRow else { continue }
            for row in 0..<part.height { unsafe data.append(top + row * plane.stride, count: part.width) }
        }
        return data
    }

    private func part(_ pictures: ReferencePictures, _ index: Int) -> Data {
        let count = pictures.size.packedI420ByteCount
        return pictures.bytes.dropFirst(index * count).prefix(count)
    }

    /// How the rows of the pictures lie in memory.
    enum Rows: CaseIterable { case padded, packed, bottomUp }

    @Test("Pictures are those of ffmpeg's bwdif, wherever their rows lie in memory", arguments: Rows.allCases)
    func sequence(_ rows: Rows) throws {
        let (source, expected) = try (pictures(6), expected(5))
        let frames = try (0..<6).map { index -> SourceFrame in
            switch rows {
            case .padded: return frame(try source.padded(index), UInt64(index))
            case .packed: return frame(try source.packed(index), UInt64(index))
            case .bottomUp: return try bottomUp(frame(source.packed(index), UInt64(index)))
            }
        }
        let filter = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing)
        for index in 0..<5 {
            let made = try filter.filtered(
                frames[index], previous: index > 0 ? frames[index - 1] : nil, next: frames[index + 1])
            #expect(made.fieldOrder == .progressive && made.size == size)
            #expect(made.pts == frames[index].pts && made.sequence == frames[index].sequence)
            #expect(try bytes(made).isSame(as: part(expected, index)), "picture \(index)")
        }
    }

    /// The same picture, stored with its bottom row first.
    private func bottomUp(_ frame: SourceFrame) throws -> SourceFrame {
        @safe final class Memory: Sendable {
            nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
            init(_ count: Int) { unsafe bytes = .allocate(byteCount: count, alignment: 1) }
            deinit { unsafe bytes.deallocate() }
        }
        let memory = Memory(frame.size.packedI420ByteCount)
        var (planes, start) = (SourcePlanes(), 0)
        let data = try [UInt8](bytes(frame))
        for index in 0..<3 {
            let part = index == 0 ? frame.size : frame.size.chroma
            let count = part.width * part.height
            for row in 0..<part.height {
                let from = start + row * part.width
                let to = start + (part.height - 1 - row) * part.width
                unsafe memory.bytes[to..<to + part.width].copyBytes(from: data[from..<from + part.width])
            }
            unsafe planes.append(
                SourcePlane(
                    UnsafeRawBufferPointer(rebasing: memory.bytes[start..<start + count]), offset: count - part.width,
                    stride: -part.width))
            start += count
        }
        var result = frame
        (result.planes, result.owner) = (planes, memory)
        return result
    }

    @Test("A picture that is wanted alone has its neighbours all the same, in any order of calls")
    func anyOrder() throws {
        let (source, expected) = try (pictures(8), expected(7))
        let frames = try (0..<8).map { frame(try source.padded($0), UInt64($0)) }
        let filter = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing)
        for index in [5, 2, 3, 3, 1, 6] {
            let made = try filter.filtered(frames[index], previous: frames[index - 1], next: frames[index + 1])
            #expect(try bytes(made).isSame(as: part(expected, index)), "picture \(index)")
        }
    }

    @Test("A single picture is made only from its lines, as the first one by ffmpeg")
    func single() throws {
        let filter = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing)
        let source = try pictures(1)
        let made = try filter.filtered(frame(source.padded(0), 0), previous: nil, next: nil)
        #expect(try bytes(made).isSame(as: part(expected(1), 0)))
        #expect(try !bytes(made).isSame(as: part(source, 0)))
    }

    @Test("The last picture is ffmpeg's, too")
    func last() throws {
        let source = try pictures(4)
        let whole = try pictures(4, "trim=end_frame=4,setfield=tff,bwdif=mode=send_frame")
        try #require(whole.count == 4)
        let filter = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing)
        let made = try filter.filtered(
            frame(source.padded(3), 3), previous: frame(source.padded(2), 2), next: nil)
        #expect(try bytes(made).isSame(as: part(whole, 3)))
    }

    @Test("Pictures of another size are not used as neighbours, and are filtered themselves")
    func sizes() throws {
        let (source, expected) = try (pictures(3), expected(1))
        let large = ImageSize(width: 160, height: 120)
        let other = try ReferencePictures(lavfi: "testsrc2=size=160x120", size: large, frames: 1)
        let filter = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing)
        let neighbour = frame(try other.padded(0), 7)
        for _ in 0..<2 {
            let small = try filter.filtered(frame(source.padded(0), 6), previous: nil, next: neighbour)
            #expect(try bytes(small).isSame(as: part(expected, 0)))
            #expect(try filter.filtered(neighbour, previous: small, next: nil).size == large)
        }
    }

    @Test("Planes that are missing or too short, and formats of no memory, are refused")
    func refusals() throws {
        let filter = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing)
        let whole = frame(try pictures(1).packed(0), 0)
        var (missing, short, unknown, surface, impossible) = (whole, whole, whole, whole, whole)
        missing.planes = SourcePlanes()
        short.size = ImageSize(width: 100, height: 74)
        unknown.pixelFormat = PixelFormat("nothing")
        surface.pixelFormat = PixelFormat("vaapi")
        impossible.size = ImageSize(width: 0, height: -1)
        for (frame, code) in [
            (missing, InletError.Code.malformedData), (short, .malformedData), (unknown, .unsupported),
            (surface, .unsupported), (impossible, .invalidConfiguration),
        ] {
            let error = #expect(throws: InletError.self) { try filter.filtered(frame, previous: nil, next: nil) }
            #expect(error?.code == code)
        }
        #expect(throws: Never.self) { try filter.filtered(whole, previous: nil, next: nil) }
    }
}
