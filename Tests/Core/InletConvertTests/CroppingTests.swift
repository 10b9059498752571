import InletConvert
import InletCore
import ReferenceTools
import Testing

@Suite(.blocking) struct CroppingTests {
    private let converter = FrameConverter()
    private let pool = I420BufferPool(capacity: 2)

    private func buffer(_ picture: NativePicture, _ layout: NativePicture.Layout = .padded) throws -> I420Buffer {
        try converter.i420(from: picture.frame(layout), pool: pool).buffer
    }

    @Test("A part matches ffmpeg's crop filter, bit for bit")
    func agreesWithFFmpeg() throws {
        let picture = NativePicture(noise: "yuv420p", ImageSize(width: 99, height: 67))
        let rects = [
            (0, 0, 98, 66), (2, 4, 40, 30), (16, 0, 83, 67), (98, 66, 1, 1), (64, 32, 35, 35), (10, 20, 17, 3),
        ]
        .map { ImageRect(x: $0.0, y: $0.1, width: $0.2, height: $0.3) }
        let expected = try FFmpegCommand.i420(
            rects.map {
                FFmpegCommand.Job(
                    format: "yuv420p", size: picture.size, bytes: picture.bytes,
                    filter: "crop=\($0.size.width):\($0.size.height):\($0.x):\($0.y):exact=1")
            })
        for layout in [NativePicture.Layout.padded, .guarded, .oddStride] {
            let whole = try buffer(picture, layout)
            for (rect, expected) in zip(rects, expected) {
                let part = try whole.cropped(to: rect)
                #expect(part.size == rect.size)
                expectSame(part.packed, expected, "\(rect) of \(layout)")
            }
        }
    }

    @Test("A part uses the picture's memory and keeps it alive; the whole picture is itself")
    func sharesMemory() throws {
        let size = ImageSize(width: 64, height: 48)
        var whole: I420Buffer? = try pool.makeBuffer(size: size).publish()
        let part = try #require(whole).cropped(to: ImageRect(x: 8, y: 6, width: 20, height: 10))
        #expect(try #require(whole).cropped(to: ImageRect(x: 0, y: 0, size: size)) === whole)
        for (plane, offset) in [(I420Buffer.Plane.y, 8), (.u, 4), (.v, 4)] {
            let buffer = try #require(whole)
            let rows = plane == .y ? 6 : 3
            #expect(
                unsafe part.baseAddress(of: plane) == buffer.baseAddress(of: plane) + rows * buffer.strides[plane]
                    + offset)
        }
        whole = nil
        #expect(pool.statistics.inUse == 1)
        #expect(pool.statistics.allocations == 1)
        _ = consume part
        #expect(pool.statistics.inUse == 0)
    }

    @Test(
        "A part outside of the picture, or one that begins within a chroma sample, is refused",
        arguments: [
            (0, 0, 66, 2), (60, 0, 6, 2), (0, 40, 2, 10), (-2, 0, 4, 4), (1, 0, 4, 4), (0, 1, 4, 4), (0, 0, 0, 4),
        ])
    func refuses(x: Int, y: Int, width: Int, height: Int) throws {
        let whole = try buffer(NativePicture(noise: "yuv420p", ImageSize(width: 64, height: 48)))
        let error = #expect(throws: InletError.self) {
            try whole.cropped(to: ImageRect(x: x, y: y, width: width, height: height))
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(
        "A rotated picture matches ffmpeg's transpose filter, bit for bit",
        arguments: [
            (Rotation.clockwise90, "transpose=clock"), (.clockwise180, "hflip,vflip"),
            (.clockwise270, "transpose=cclock"),
        ])
    func turns(rotation: Rotation, filter: String) throws {
        for size in [
            ImageSize(width: 64, height: 48), ImageSize(width: 130, height: 34), ImageSize(width: 31, height: 17),
        ] {
            let picture = NativePicture(noise: "yuv420p", size)
            let expected = try FFmpegCommand.i420([
                .init(format: "yuv420p", size: size, bytes: picture.bytes, filter: filter)
            ])
            let result = try converter.rotated(buffer(picture), by: rotation, pool: pool)
            expectSame(result.packed, expected[0], "\(size)")
        }
    }
}
