import InletCore
import Testing

@Suite struct I420DraftTests {
    @Test(
        "Rows and planes start at multiples of 64 bytes and hold the picture",
        arguments: [(1, 1), (64, 2), (65, 3), (1920, 1080), (333, 77)])
    func layout(width: Int, height: Int) throws {
        let size = ImageSize(width: width, height: height)
        let draft = try I420Draft(size: size)
        #expect(draft.size == size)
        let buffer = draft.publish()
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: size)
            #expect(buffer.strides[plane] >= rows.width)
            #expect(buffer.strides[plane] % 64 == 0)
            #expect(unsafe UInt(bitPattern: buffer.baseAddress(of: plane)) % 64 == 0)
            #expect(buffer.bytes(of: plane).count == buffer.strides[plane] * (rows.height - 1) + rows.width)
        }
    }

    @Test("A new draft is zero everywhere, padding included")
    func zeroed() throws {
        let buffer = try I420Draft(size: ImageSize(width: 3, height: 5)).publish()
        for plane in I420Buffer.Plane.allCases {
            let bytes = buffer.bytes(of: plane)
            #expect(bytes.indices.allSatisfy { bytes[$0] == 0 })
        }
    }

    @Test("Bytes written to a plane are read from that plane and no other")
    func planesDoNotOverlap() throws {
        var draft = try I420Draft(size: ImageSize(width: 67, height: 5))
        draft.fill(y: 1, u: 2, v: 3)
        let buffer = draft.publish()
        for (plane, value) in [(I420Buffer.Plane.y, UInt8(1)), (.u, 2), (.v, 3)] {
            let rows = I420Buffer.rows(of: plane, in: buffer.size)
            for index in 0..<rows.height {
                let row = buffer.row(index, of: plane)
                #expect(row.count == rows.width)
                #expect(row.indices.allSatisfy { row[$0] == value })
            }
        }
    }

    @Test("Black is 16, 128, 128")
    func black() throws {
        var draft = try I420Draft(size: ImageSize(width: 2, height: 2))
        draft.fillBlack()
        let buffer = draft.publish()
        #expect(buffer.row(1, of: .y)[1] == 16)
        #expect(buffer.row(0, of: .u)[0] == 128)
        #expect(buffer.row(0, of: .v)[0] == 128)
    }

    @Test("An impossible size is refused", arguments: [(0, 0), (-1, 2), (32_769, 2)])
    func badSize(width: Int, height: Int) {
        let error = #expect(throws: InletError.self) {
            _ = try I420Draft(size: ImageSize(width: width, height: height)).publish()
        }
        #expect(error?.code == .invalidConfiguration)
    }
}
