import Foundation
import InletConvert
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// The pictures that sinks get of one frame, and the number of conversions.
@Suite(.blocking) struct CapturedFrameTests {
    private static let size = ImageSize(width: 130, height: 98)

    /// Counts conversions, with separate pools for each sink.
    private final class Sinks: Sendable {
        let converter = FrameConverter()
        let pool = I420BufferPool(capacity: 4)
        let conversions = Atomic(0)

        func context() -> ConversionContext {
            ConversionContext(converter: converter, pool: pool, scalingPool: I420BufferPool(capacity: 4)) {
                self.conversions.add(1, ordering: .relaxed)
            }
        }
    }

    private func capture(_ frame: SourceFrame) -> CapturedFrame {
        CapturedFrame(frame, timestamp: MonotonicTime(nanoseconds: 1), stages: StageTimes())
    }

    private func get(_ frame: CapturedFrame, _ wants: SinkWants, _ sinks: Sinks) throws -> VideoFrame {
        try frame.videoFrame(frame.adaptation(to: wants), with: sinks.context())
    }

    /// An NV12 frame: the same bytes for luma and for chroma.
    private func nv12() throws -> SourceFrame {
        let buffer = try ReferencePictures(lavfi: "testsrc2=size=\(Self.size)", size: Self.size, frames: 1).packed(0)
        let luma = try #require(SourcePlanes(buffer)[0])
        var planes = SourcePlanes()
        planes.append(luma)
        planes.append(luma)
        return SourceFrame(
            pixelFormat: .nv12, size: Self.size, planes: planes, owner: buffer, pts: nil, sequence: 0)
    }

    /// A picture made by ffmpeg as an I420 frame, and the results of ffmpeg's filters.
    private func picture(_ filter: String, to size: ImageSize) throws -> (SourceFrame, Data) {
        let graph = "testsrc2=size=\(Self.size),format=yuv420p"
        let source = try ReferencePictures(lavfi: graph, size: Self.size, frames: 1)
        let expected = try ReferencePictures(lavfi: "\(graph),\(filter)", size: size, frames: 1)
        return (try SourceFrame(source.padded(0), pts: nil, sequence: 0), expected.bytes)
    }

    @Test(
        "A scaled picture of unspecified colours states the assumed ones; an unscaled picture stays unchanged",
        arguments: [(1280, 720, ColorMatrix.bt709), (640, 480, .smpte170m), (480, 640, .bt709)])
    func colors(width: Int, height: Int, matrix: ColorMatrix) throws {
        let sinks = Sinks()
        let draft = try I420Draft(size: ImageSize(width: width, height: height))
        let frame = capture(SourceFrame(draft.publish(), pts: nil, sequence: 0))
        let small = try get(frame, SinkWants(largestSize: ImageSize(width: 320, height: 240)), sinks)
        #expect(small.colorSpace == ColorSpace(matrix: matrix))
        let whole = try get(frame, SinkWants(), sinks)
        #expect(whole.colorSpace == .unspecified)
    }

    @Test("Two sinks on one NV12 frame share one conversion, and the native picture is released after it")
    func sharedConversion() throws {
        let sinks = Sinks()
        var native: SourceFrame? = try nv12()
        weak let owner = native?.owner as? I420Buffer
        let frame = capture(try #require(native))
        native = nil
        #expect(owner != nil)
        let first = try get(frame, SinkWants(), sinks)
        #expect(owner == nil)
        let second = try get(frame, SinkWants(maximumFrameRate: Rational(1)), sinks)
        #expect(first.buffer === second.buffer)
        #expect(sinks.conversions.load(ordering: .relaxed) == 1)
    }

    @Test(
        "Sinks with the same requirements share one picture",
        arguments: [
            SinkWants(size: ImageSize(width: 64, height: 48)), SinkWants(largestSize: ImageSize(width: 64, height: 64)),
            SinkWants(crop: .center(Rational(1))),
            SinkWants(crop: .exact(ImageRect(x: 2, y: 2, width: 64, height: 48))), SinkWants(rotation: .applied),
            SinkWants(crop: .center(Rational(1)), size: ImageSize(width: 32, height: 32), rotation: .applied),
        ])
    func sharedAdaptation(wants: SinkWants) throws {
        let sinks = Sinks()
        var native = try nv12()
        native.rotation = .clockwise90
        let frame = capture(native)
        let first = try get(frame, wants, sinks)
        let second = try get(frame, wants, sinks)
        #expect(first.buffer === second.buffer)
        #expect(try get(frame, SinkWants(), sinks).buffer !== first.buffer)
        #expect(sinks.conversions.load(ordering: .relaxed) == 1)
        #expect(first.rotation == (wants.rotation == .applied ? .none : .clockwise90))
    }

    @Test("Beyond the maximum number of shared pictures, each sink makes its own")
    func boundedSharing() throws {
        let sinks = Sinks()
        let frame = capture(try nv12())
        let kinds = (0..<CapturedFrame.sharedAdaptations + 1).map {
            SinkWants(size: ImageSize(width: 16 + 2 * $0, height: 16))
        }
        let pictures = try kinds.map { try get(frame, $0, sinks).buffer }
        let again = try kinds.map { try get(frame, $0, sinks).buffer }
        #expect(zip(pictures, again).count { $0 === $1 } == CapturedFrame.sharedAdaptations)
        #expect(pictures.last?.packedBytes == again.last?.packedBytes)
        #expect(sinks.conversions.load(ordering: .relaxed) == 1)
    }

    @Test("A part of an I420 frame uses the source's memory")
    func partWithoutCopy() throws {
        let sinks = Sinks()
        var draft = try I420Draft(size: Self.size)
        draft.fillBlack()
        let buffer = draft.publish()
        let frame = capture(SourceFrame(buffer, pts: nil, sequence: 0))
        let part = try get(frame, SinkWants(crop: .exact(ImageRect(x: 4, y: 2, width: 60, height: 40))), sinks)
        #expect(
            unsafe part.buffer.baseAddress(of: .y) == buffer.baseAddress(of: .y) + 2 * buffer.strides.y + 4)
        #expect(sinks.pool.statistics.allocations == 0)
    }

    @Test(
        "Cropped and rotated pictures match ffmpeg's filters, bit for bit",
        arguments: [
            (
                SinkWants(crop: .exact(ImageRect(x: 10, y: 20, width: 61, height: 43))), Rotation.none,
                "crop=61:43:10:20:exact=1", ImageSize(width: 61, height: 43)
            ),
            (
                SinkWants(crop: .center(Rational(16, 9))), .none, "crop=iw:trunc(iw*9/16/2)*2",
                ImageSize(width: 130, height: 72)
            ),
            (
                SinkWants(crop: .center(Rational(1))), .clockwise90, "crop=ih:ih", ImageSize(width: 98, height: 98)
            ),
            (SinkWants(rotation: .applied), .clockwise90, "transpose=clock", ImageSize(width: 98, height: 130)),
            (SinkWants(rotation: .applied), .clockwise180, "hflip,vflip", size),
            (SinkWants(rotation: .applied), .clockwise270, "transpose=cclock", ImageSize(width: 98, height: 130)),
            (
                SinkWants(crop: .exact(ImageRect(x: 2, y: 0, width: 64, height: 98)), rotation: .applied),
                .clockwise270, "crop=64:98:2:0:exact=1,transpose=cclock", ImageSize(width: 98, height: 64)
            ),
            // The aspect ratio is that of the upright picture: cropped before the rotation, it is landscape.
            (
                SinkWants(crop: .center(Rational(9, 16)), rotation: .applied), .clockwise90,
                "crop=iw:trunc(iw*9/16/2)*2,transpose=clock", ImageSize(width: 72, height: 130)
            ),
        ])
    func exactPictures(wants: SinkWants, rotation: Rotation, filter: String, size: ImageSize) throws {
        var (native, expected) = try picture(filter, to: size)
        native.rotation = rotation
        let frame = try get(capture(native), wants, Sinks())
        #expect(frame.size == size)
        #expect(frame.buffer.packedBytes.isSame(as: expected))
    }

    @Test("A picture is cropped first, then scaled, then rotated")
    func order() throws {
        var (native, cut) = try picture("crop=98:98", to: ImageSize(width: 98, height: 98))
        native.rotation = .clockwise90
        let wants = SinkWants(
            crop: .center(Rational(1)), size: ImageSize(width: 40, height: 60), rotation: .applied)
        let frame = try get(capture(native), wants, Sinks())
        #expect(frame.size == ImageSize(width: 40, height: 60))
        #expect(frame.rotation == .none)
        // The same steps, each from ffmpeg's picture or by a conversion that has its own tests.
        let (converter, pool) = (FrameConverter(), I420BufferPool(capacity: 4))
        let scaled = try converter.scaled(
            ReferencePictures(cut, size: ImageSize(width: 98, height: 98)).packed(0),
            to: ImageSize(width: 60, height: 40), pool: pool)
        let expected = try converter.rotated(scaled, by: .clockwise90, pool: I420BufferPool(capacity: 1))
        #expect(frame.buffer.packedBytes.isSame(as: expected.packedBytes))
    }

    @Test("A frame that cannot be converted fails for every sink, and is tried once")
    func failure() throws {
        let sinks = Sinks()
        var native = try nv12()
        native.pixelFormat = PixelFormat("vaapi")
        let frame = capture(native)
        for _ in 0..<2 {
            let error = #expect(throws: InletError.self) { try get(frame, SinkWants(), sinks) }
            #expect(error?.code == .unsupported)
        }
        #expect(sinks.conversions.load(ordering: .relaxed) == 0)
    }

    @Test("A sink whose pool is exhausted leaves the picture to the next")
    func exhaustedPool() throws {
        let sinks = Sinks()
        let frame = capture(try nv12())
        let wants = SinkWants(size: ImageSize(width: 64, height: 48))
        let full = ConversionContext(
            converter: sinks.converter, pool: sinks.pool, scalingPool: I420BufferPool(capacity: 1)
        ) {}
        let held = try full.scalingPool.makeBuffer(size: Self.size).publish()
        let adaptation = try frame.adaptation(to: wants)
        let error = #expect(throws: InletError.self) { try frame.videoFrame(adaptation, with: full) }
        #expect(error?.code == .resourceExhausted)
        #expect(try get(frame, wants, sinks).size == ImageSize(width: 64, height: 48))
        withExtendedLifetime(held) {}
    }
}
