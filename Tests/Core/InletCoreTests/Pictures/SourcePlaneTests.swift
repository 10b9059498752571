import InletCore
import Testing

@Suite struct SourcePlaneTests {
    private let memory = TestMemory(count: 100)

    private func plane(offset: Int = 0, stride: Int) -> SourcePlane {
        unsafe SourcePlane(UnsafeRawBufferPointer(memory.bytes), offset: offset, stride: stride)
    }

    @Test(
        "A plane covers the bytes within its memory and no more",
        arguments: [
            // offset, stride, rows, bytes per row, holds
            (0, 10, 10, 10, true), (0, 10, 10, 11, false), (0, 10, 11, 10, false), (0, 10, 11, 1, false),
            (0, 12, 9, 4, true), (0, 12, 9, 5, false),  // The last row has no padding.
            (1, 10, 10, 9, true), (1, 10, 10, 10, false),
            (0, 5, 3, 10, false),  // Rows overlap.
            (0, 5, 1, 10, true), (0, 0, 1, 100, true), (0, 0, 2, 1, false), (100, 10, 1, 1, false),
            (99, 10, 1, 1, true), (-1, 10, 1, 1, false), (0, 10, 0, 10, true), (0, 10, 10, 0, true),
            (0, 10, -1, 10, false), (0, 10, 1, -1, false),
        ])
    func holds(offset: Int, stride: Int, rows: Int, rowBytes: Int, expected: Bool) {
        #expect(plane(offset: offset, stride: stride).holds(rows: rows, of: rowBytes) == expected)
    }

    @Test(
        "A picture stored bottom up starts at its last row and ends at the first byte",
        arguments: [
            (90, -10, 10, 10, true), (90, -10, 11, 10, false), (91, -10, 10, 10, false), (80, -10, 9, 10, true),
            (80, -10, 10, 10, false), (90, -10, 1, 10, true), (90, -5, 2, 10, false),
        ])
    func bottomUp(offset: Int, stride: Int, rows: Int, rowBytes: Int, expected: Bool) {
        #expect(plane(offset: offset, stride: stride).holds(rows: rows, of: rowBytes) == expected)
    }

    @Test(
        "Numbers that overflow are refused",
        arguments: [
            (0, Int.max, 3, 1), (0, Int.min, 2, 1), (0, Int.min, 3, 1), (1, Int.max, 2, 1), (Int.max, 1, 2, 1),
            (Int.max, 0, 1, 1), (0, 1, Int.max, 1), (0, 10, 1, Int.max), (0, Int.max, Int.max, Int.max),
            (0, -1, Int.max, 1), (Int.min, 1, 1, 1),
        ])
    func overflow(offset: Int, stride: Int, rows: Int, rowBytes: Int) {
        #expect(!plane(offset: offset, stride: stride).holds(rows: rows, of: rowBytes))
    }

    @Test("The memory from the top row on never begins outside the plane")
    func bytesFromTop() {
        #expect(unsafe plane(offset: 90, stride: -10).bytesFromTop.count == 10)
        #expect(unsafe plane(offset: 90, stride: -10).bytesFromTop.first == 90)
        #expect(unsafe plane(offset: 100, stride: 1).bytesFromTop.count == 0)
        #expect(unsafe plane(offset: 101, stride: 1).bytesFromTop.count == 0)
        #expect(unsafe plane(offset: -1, stride: 1).bytesFromTop.count == 0)
    }

    @Test("A picture has at most four planes")
    func planes() {
        var planes = SourcePlanes()
        #expect(planes.count == 0)
        for stride in 1...5 { planes.append(plane(stride: stride)) }
        #expect(planes.count == 4)
        #expect((0..<4).map { planes[$0]?.stride } == [1, 2, 3, 4])
        #expect(planes[4] == nil)
        #expect(planes[-1] == nil)
    }

    @Test("The planes of an I420 buffer hold exactly its pixels", arguments: [(1, 1), (5, 3), (640, 480)])
    func i420(width: Int, height: Int) throws {
        let buffer = try I420Draft(size: ImageSize(width: width, height: height)).publish()
        let frame = SourceFrame(buffer, pts: nil, sequence: 3)
        #expect(frame.pixelFormat.isI420)
        #expect(frame.planes.count == 3)
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: buffer.size)
            let source = try #require(frame.planes[plane.rawValue])
            #expect(source.holds(rows: rows.height, of: rows.width))
            #expect(!source.holds(rows: rows.height, of: rows.width + 1))
            #expect(!source.holds(rows: rows.height + 1, of: rows.width))
        }
    }
}
