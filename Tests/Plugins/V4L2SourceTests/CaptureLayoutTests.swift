import InletConvert
import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct CaptureLayoutTests {
    @Test("Every format of the table is supported by the conversion to I420")
    func readable() throws {
        let converter = FrameConverter()
        let size = ImageSize(width: 32, height: 16)
        for (code, layout) in CaptureLayout.table {
            let format: PixelFormat
            switch layout {
            case .pixels(let pixels, _): format = pixels
            case .repacked(let repacking): format = repacking.pixelFormat
            case .vendor(let vendor): format = vendor.pixelFormat
            case .compressed: continue
            }
            // Four large planes: the test checks only that the format is known and read.
            let block = PictureBlock(byteCount: 64 * 64 * 4)
            var planes = SourcePlanes()
            for _ in 0..<4 { unsafe planes.append(SourcePlane(UnsafeRawBufferPointer(block.memory), stride: 128)) }
            let frame = SourceFrame(
                pixelFormat: format, size: size, planes: planes, owner: block, pts: nil, sequence: 0)
            #expect(throws: Never.self, "\(code) as \(format)") {
                try converter.i420(from: frame, pool: I420BufferPool(capacity: 1))
            }
        }
    }

    @Test(
        "Formats cost as much as their conversion",
        arguments: [["YU12", "NV12", "YUYV", "BGR3", "MJPG", "H264", "RGBP", "VUYA", "RGGB", "GREY"]])
    func costs(order: [String]) {
        let costs = order.compactMap { FourCC($0).flatMap(CaptureLayout.cost) }
        #expect(costs.count == order.count)
        #expect(costs == costs.sorted())
        #expect(CaptureLayout.cost(of: "HSV3") == nil)
    }

    @Test("Planes in one piece of memory have the offsets of V4L2's documents")
    func planes() {
        func planes(_ code: FourCC, _ bytesPerLine: Int, _ height: Int) -> [[Int]] {
            guard case .pixels(_, let arrangement) = CaptureLayout.table[code] else { return [] }
            return CaptureLayout.planes(arrangement, bytesPerLine: bytesPerLine, height: height).map {
                [$0.offset, $0.stride]
            }
        }
        #expect(planes("YUYV", 1280, 480) == [[0, 1280]])
        #expect(planes("YU12", 640, 480) == [[0, 640], [307_200, 320], [384_000, 320]])
        // V before U.
        #expect(planes("YV12", 640, 480) == [[0, 640], [384_000, 320], [307_200, 320]])
        #expect(planes("NV12", 704, 480) == [[0, 704], [337_920, 704]])
        #expect(planes("NV24", 640, 480) == [[0, 640], [307_200, 1280]])
        #expect(planes("422P", 640, 480) == [[0, 640], [307_200, 320], [460_800, 320]])
        #expect(planes("YU12", 642, 481) == [[0, 642], [308_802, 321], [386_163, 321]])
    }

    @Test("A picture shorter than its format is incomplete")
    func whole() throws {
        var format = inletFormat("YU12", 640, 480, [640], [460_800])
        var picture = try CapturePicture(format)
        #expect(picture.isWhole([460_800]))
        #expect(picture.isWhole([0]))
        #expect(!picture.isWhole([400_000]))
        format = inletFormat("NM12", 640, 480, [640, 640], [307_200, 153_600])
        picture = try CapturePicture(format)
        #expect(picture.isWhole([307_200, 153_600]))
        #expect(!picture.isWhole([307_200, 100_000]))
        picture = try CapturePicture(inletFormat("MJPG", 640, 480, [0], [614_400]))
        #expect(picture.isWhole([7]))
        #expect(!picture.isWhole([0]))
    }
}
