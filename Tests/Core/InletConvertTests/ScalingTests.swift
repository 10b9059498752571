import InletConvert
import InletCore
import ReferenceTools
import Testing

@Suite(.blocking) struct ScalingTests {
    private let converter = FrameConverter()
    private let pool = I420BufferPool(capacity: 2)

    @Test("The same size and no rotation give the same buffer")
    func passesThrough() throws {
        let buffer = try wrapped(ImageSize(width: 30, height: 20))
        #expect(try converter.scaled(buffer, to: buffer.size, pool: pool) === buffer)
        #expect(try converter.rotated(buffer, by: .none, pool: pool) === buffer)
        #expect(pool.statistics.allocations == 0)
    }

    @Test(
        "Scaling agrees with ffmpeg's area and bilinear scalers",
        arguments: [
            (ImageSize(width: 160, height: 90), "area"), (ImageSize(width: 320, height: 180), "area"),
            (ImageSize(width: 213, height: 60), "area"), (ImageSize(width: 1280, height: 720), "bilinear"),
        ])
    func agreesWithFFmpeg(size: ImageSize, scaler: String) throws {
        let source = ImageSize(width: 640, height: 360)
        // A picture without hard edges, which would show the scalers' rounding of positions more than their filters.
        let drawn = try FFmpegCommand.draw(
            "testsrc2=size=\(source):rate=1", [.init(format: "yuv420p", size: source, filter: "gblur=sigma=4")])
        let picture = try NativePicture("yuv420p", source, drawn[0])
        let filter = "scale=\(size.width):\(size.height):flags=\(scaler)+accurate_rnd"
        let expected = try FFmpegCommand.i420([
            .init(format: "yuv420p", size: source, bytes: picture.bytes, filter: filter)
        ])
        let buffer = try converter.i420(from: picture.frame(), pool: pool).buffer
        let result = try converter.scaled(buffer, to: size, pool: pool)
        #expect(result.size == size)
        let comparison = PictureComparison(result.packed, expected[0], size: size)
        #expect(comparison.worst >= 35, "\(comparison)")
    }

    @Test("A turn moves each sample and changes none", arguments: [Rotation.clockwise90, .clockwise180, .clockwise270])
    func turns(rotation: Rotation) throws {
        for (width, height) in [(64, 48), (31, 17), (2, 5), (1, 1)] {
            let buffer = try wrapped(ImageSize(width: width, height: height))
            let result = try converter.rotated(buffer, by: rotation, pool: pool)
            #expect(result.size == (rotation == .clockwise180 ? buffer.size : buffer.size.transposed))
            for plane in I420Buffer.Plane.allCases {
                let from = I420Buffer.rows(of: plane, in: buffer.size)
                let to = I420Buffer.rows(of: plane, in: result.size)
                let samples = buffer.packed(plane)
                let expected = (0..<to.width * to.height).map { index in
                    let (x, y) = (index % to.width, index / to.width)
                    let (sourceX, sourceY) =
                        switch rotation {
                        case .none: (x, y)
                        case .clockwise90: (y, from.height - 1 - x)
                        case .clockwise180: (from.width - 1 - x, from.height - 1 - y)
                        case .clockwise270: (from.width - 1 - y, x)
                        }
                    return samples[sourceY * from.width + sourceX]
                }
                expectSame(result.packed(plane), expected, "\(width)x\(height) \(plane)")
            }
        }
    }

    @Test("Scaling and rotation read nothing beyond a picture whose memory ends with its last sample")
    func staysInside() throws {
        let sizes = [(1, 1), (2, 2), (3, 5), (17, 9), (64, 36), (99, 101), (130, 3)].map(ImageSize.init)
        for size in sizes {
            let tight = try wrapped(size, .guarded)
            let padded = try wrapped(size, .padded)
            for target in sizes {
                let result = try converter.scaled(tight, to: target, pool: pool).packed
                expectSame(result, try converter.scaled(padded, to: target, pool: pool).packed, "\(size) to \(target)")
            }
            for rotation in Rotation.allCases {
                let result = try converter.rotated(tight, by: rotation, pool: pool).packed
                expectSame(
                    result, try converter.rotated(padded, by: rotation, pool: pool).packed, "\(size) \(rotation)")
            }
        }
    }

    @Test("An impossible size is an invalid configuration", arguments: [(0, 16), (16, 0), (-1, 16), (40_000, 16)])
    func refusesBadSizes(width: Int, height: Int) throws {
        let buffer = try wrapped(ImageSize(width: 16, height: 16))
        let error = #expect(throws: InletError.self) {
            try converter.scaled(buffer, to: ImageSize(width: width, height: height), pool: pool)
        }
        #expect(error?.code == .invalidConfiguration)
    }

    private func wrapped(
        _ size: ImageSize, _ layout: NativePicture.Layout = .padded
    ) throws -> I420Buffer {
        try converter.i420(from: NativePicture(noise: "yuv420p", size).frame(layout), pool: pool).buffer
    }
}
