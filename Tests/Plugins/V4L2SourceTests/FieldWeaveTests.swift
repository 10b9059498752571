import CV4L2
import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct FieldWeaveTests {
    private static func picture(
        _ code: FourCC, _ height: UInt32, _ strides: [UInt32], field: v4l2_field
    ) throws -> CapturePicture {
        var format = inletFormat(code, strides[0], height, strides, strides.map { $0 * height * 3 })
        format.field = field.rawValue
        return try CapturePicture(format)
    }

    /// Memory with rows of one value each.
    private static func rows(_ rows: [(value: UInt8, count: Int)]) -> [UInt8] {
        rows.flatMap { [UInt8](repeating: $0.value, count: $0.count) }
    }

    /// The values of the first bytes of rows.
    private static func values(_ bytes: [UInt8], _ counts: [Int]) -> [UInt8] {
        var place = 0
        return counts.map { count in
            defer { place += count }
            return bytes[place]
        }
    }

    /// Weaves the fields of a picture: one after another into every other row, or both from one buffer.
    private static func woven(_ picture: CapturePicture, _ fields: [[[UInt8]]]) -> [UInt8] {
        let weave = FieldWeave(picture)
        let block = PictureBlock(byteCount: weave.byteCount)
        for (index, field) in fields.enumerated() {
            let copies = unsafe field.map { plane in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: plane.count, alignment: 1)
                unsafe copy.copyBytes(from: plane)
                return UnsafeRawBufferPointer(copy)
            }
            if case .sequential(let order) = picture.fields {
                unsafe weave.copy(copies, order, to: block)
            } else {
                unsafe weave.copy(copies, index == 0 ? .top : .bottom, to: block)
            }
            unsafe copies.forEach { unsafe $0.deallocate() }
        }
        return unsafe [UInt8](block.memory[..<weave.byteCount])
    }

    @Test("Two fields of I420 become the rows of a frame, chroma by chroma")
    func planar() throws {
        // A field has five rows, and three of each chroma plane; a frame has ten, and five of chroma.
        let picture = try Self.picture("YU12", 5, [8], field: V4L2_FIELD_ALTERNATE)
        #expect(picture.size == ImageSize(width: 8, height: 10))
        func field(_ parity: UInt8) -> [UInt8] {
            Self.rows(
                (0..<5).map { (10 + 2 * $0 + parity, 8) } + (0..<3).map { (100 + 2 * $0 + parity, 4) }
                    + (0..<3).map { (200 + 2 * $0 + parity, 4) })
        }
        let frame = Self.woven(picture, [[field(0)], [field(1)]])
        #expect(frame.count == 120)
        #expect(
            Self.values(frame, [Int](repeating: 8, count: 10) + [Int](repeating: 4, count: 10))
                == [UInt8](10..<20) + [UInt8](100..<105) + [UInt8](200..<205))
    }

    @Test("Planes in separate memory are each woven into their own plane", arguments: ["NM12", "NM16"] as [FourCC])
    func separatePlanes(code: FourCC) throws {
        let chromaRows = code == "NM12" ? 2 : 4
        let picture = try Self.picture(code, 4, [8, 8], field: V4L2_FIELD_ALTERNATE)
        func field(_ parity: UInt8) -> [[UInt8]] {
            [
                Self.rows((0..<4).map { (2 * $0 + parity, 8) }),
                Self.rows((0..<UInt8(chromaRows)).map { (100 + 2 * $0 + parity, 8) }),
            ]
        }
        let frame = Self.woven(picture, [field(0), field(1)])
        let expected = [UInt8](0..<8) + [UInt8](100..<100 + UInt8(2 * chromaRows))
        #expect(Self.values(frame, [Int](repeating: 8, count: expected.count)) == expected)
    }

    @Test("The consecutive rows of a buffer with both fields alternate in the frame")
    func sequential() throws {
        for (field, order) in [(V4L2_FIELD_SEQ_TB, [0, 2, 4, 1, 3, 5]), (V4L2_FIELD_SEQ_BT, [1, 3, 5, 0, 2, 4])] {
            // Luma, then a plane of chroma as high as luma.
            let picture = try Self.picture("NV16", 6, [8], field: field)
            #expect(picture.size == ImageSize(width: 8, height: 6))
            let bytes = Self.rows(order.map { (UInt8($0), 8) } + order.map { (UInt8(100 + $0), 8) })
            #expect(
                Self.values(Self.woven(picture, [[bytes]]), [Int](repeating: 8, count: 12))
                    == [UInt8](0..<6) + [UInt8](100..<106))
        }
    }

    @Test("The available part of a field that is too short is copied")
    func short() throws {
        let picture = try Self.picture("GREY", 2, [4], field: V4L2_FIELD_ALTERNATE)
        let frame = Self.woven(picture, [[[1, 1, 1, 1, 2, 2]], [[3]]])
        #expect(frame == [1, 1, 1, 1, 3, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0])
    }

    @Test("The order of fields is the driver's, or that of the video standard")
    func order() throws {
        func fields(_ field: v4l2_field, _ code: FourCC = "YUYV", has525Lines: Bool = false) throws -> CaptureFields {
            var format = inletFormat(code, 64, 32, [128], [8192])
            format.field = field.rawValue
            return try CapturePicture(format, has525Lines: has525Lines).fields
        }
        #expect(try fields(V4L2_FIELD_NONE) == .whole(.progressive))
        #expect(try fields(V4L2_FIELD_ANY) == .whole(.progressive))
        #expect(try fields(V4L2_FIELD_INTERLACED) == .whole(.topFirst))
        #expect(try fields(V4L2_FIELD_INTERLACED, has525Lines: true) == .whole(.bottomFirst))
        #expect(try fields(V4L2_FIELD_INTERLACED_TB, has525Lines: true) == .whole(.topFirst))
        #expect(try fields(V4L2_FIELD_INTERLACED_BT) == .whole(.bottomFirst))
        #expect(try fields(V4L2_FIELD_SEQ_TB) == .sequential(.topFirst))
        #expect(try fields(V4L2_FIELD_SEQ_BT) == .sequential(.bottomFirst))
        #expect(try fields(V4L2_FIELD_ALTERNATE) == .alternating)
        // Its fields are compressed separately.
        #expect(try fields(V4L2_FIELD_ALTERNATE, "MJPG") == .whole(.progressive))
    }
}
