import CV4L2
import Foundation
import InletCore
import InletV4L2
import ReferenceTools
import Testing
import V4L2Source

extension DriverTests {
    /// Takes interlaced pictures of a television input, for ``FieldComparison`` to compare.
    @Suite struct Fields {
        @Test(
            "In any order of the fields in the driver's buffers, a frame has all rows and states its order",
            arguments: FieldComparison.cases)
        func all(_ each: FieldComparison.Case) throws {
            let (order, picture) = (each.order, each.picture)
            let device = picture.isMultiplanar ? Vivid.second : .first
            try device.control("-i", "2")
            try device.control("-s", picture.isNTSC ? "ntsc" : "pal")
            try device.control(
                "-c", "osd_text_mode=2,horizontal_movement=3,vertical_movement=3,test_pattern=\(picture.pattern)")
            defer {
                _ = try? device.control("-c", "test_pattern=0,osd_text_mode=0")
                _ = try? device.control("-i", "0")
            }
            let size = FieldComparison.size
            let camera = try TestCamera(Self.configuration(device, picture.format, order))
            #expect(camera.format.size == size)
            for _ in 0..<3 {
                let frame = try camera.next()
                #expect(frame.size == size)
                #expect(frame.fieldOrder == order.fieldOrder(isNTSC: picture.isNTSC))
            }
            let packed = try #require(PictureFile.packed(try camera.next()))
            camera.close()
            let file = "\(VirtualMachine.exchange)/\(picture.name(order))"
            try packed.write(to: URL(fileURLWithPath: file + ".woven"))
            let height = order == .alternate ? size.height / 2 : size.height
            try device.control(
                "--set-fmt-video",
                "width=\(size.width),height=\(height),pixelformat=\(picture.format),field=\(order.rawValue)",
                "--stream-mmap", "--stream-count", order == .alternate ? "2" : "1", "--stream-to", file + ".fields")
        }

        private static func configuration(
            _ device: Vivid, _ format: String, _ order: FieldComparison.Order
        ) -> V4L2Configuration {
            var configuration = V4L2Configuration(.path(device.bus))
            configuration.input = 2
            configuration.size = FieldComparison.size
            configuration.format = FourCC(format)
            configuration.field = order.number
            return configuration
        }

        @Test("No frame is made of two that lost a half, and each of them is counted")
        func lost() throws {
            let device = Vivid.first
            try device.control("-i", "2")
            try device.control("-s", "pal")
            // Bars that move with every field.
            try device.control("-c", "osd_text_mode=2,horizontal_movement=6,vertical_movement=3,test_pattern=0")
            defer {
                _ = try? device.control("-c", "percentage_of_dropped_buffers=0")
                _ = try? device.control("-c", "osd_text_mode=0,horizontal_movement=3")
                _ = try? device.control("-i", "0")
            }
            let camera = try TestCamera(Self.configuration(device, "GREY", .alternate))
            let width = FieldComparison.size.width
            /// The places of the brightest bar in two neighbouring rows differ by the movement between two fields.
            func movement(_ frame: SourceFrame) throws -> Int {
                let row = unsafe try #require(frame.planes[0]?.topRow)
                let stride = try #require(frame.planes[0]?.stride)
                func place(_ index: Int) -> Int? {
                    (0..<width).first { x in
                        unsafe row[index * stride + x] > 150 && row[index * stride + (x + width - 1) % width] < 100
                    }
                }
                let places = (try #require(place(100)), try #require(place(101)))
                return (places.1 - places.0 + width) % width
            }
            let expected = Set(try (0..<6).map { _ in try movement(camera.next()) })
            try device.control("-c", "percentage_of_dropped_buffers=40")
            var numbers: [UInt64] = []
            for _ in 0..<40 {
                let frame = try camera.next()
                #expect(expected.contains(try movement(frame)))
                numbers.append(frame.sequence)
            }
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
            // Drops are random; with so many pictures, some are almost certainly incomplete.
            #expect((camera.context.dropCounts[.damaged] ?? 0) > 5)
            #expect(Set(camera.context.dropCounts.keys) == [.damaged])
        }

        @Test("An interlaced HDMI signal gives whole frames, and so does a progressive one after it")
        func hdmi() throws {
            let configuration = try V4L2Configuration.hdmi()
            defer {
                // 640x480 without fields, which the driver would keep for the next program.
                _ = try? Vivid.first.control("-i", "3", "--set-dv-bt-timings", "index=0")
                Vivid.first.leaveHDMI()
            }
            // 1920x1080i50 of the driver's list of timings, then 1920x1080p30 and 1920x1080i60.
            try Vivid.first.control("-c", "dv_timings=13")
            let size = ImageSize(width: 1920, height: 1080)
            let camera = try TestCamera(configuration)
            #expect(camera.format.size == size)
            let frame = try camera.next()
            #expect(frame.size == size && frame.fieldOrder != .progressive)
            for (timings, isProgressive) in [(12, true), (15, false)] {
                try Vivid.first.control("-c", "dv_timings=\(timings)")
                var frame = try camera.next()
                for _ in 0..<300 where !frame.flags.contains(.discontinuity) { frame = try camera.next() }
                #expect(frame.size == size)
                #expect((frame.fieldOrder == .progressive) == isProgressive)
            }
        }
    }
}
