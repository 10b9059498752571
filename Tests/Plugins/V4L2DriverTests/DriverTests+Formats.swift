import Foundation
import InletCore
import InletV4L2
import ReferenceTools
import Testing
import V4L2Source

extension DriverTests {
    /// Takes each format at several sizes twice, by `v4l2-ctl` and by Inlet, for ``PictureComparison``.
    @Suite struct Formats {
        @Test(
            "Every format of the driver is captured, or is listed as unsupported",
            arguments: ["platform:vivid-000", "platform:vivid-001"])
        func all(bus: String) throws {
            let device = Vivid(bus: bus)
            // A still picture, so that two captures of it are alike. The HDMI input has any size.
            try device.control("-i", "3")
            try device.control("-c", "osd_text_mode=2,horizontal_movement=3,vertical_movement=3")
            defer { _ = try? device.control("-i", "0", "-c", "osd_text_mode=0") }
            let info = try #require(V4L2Devices.list().first { $0.identity.bus == bus })
            var taken = 0
            var refused: Set<String> = []
            for format in info.formats {
                for size in PictureComparison.sizes(of: device) {
                    var configuration = V4L2Configuration(.node(info.node))
                    configuration.input = 3
                    configuration.size = size
                    configuration.format = format.fourCC
                    let name = "\(VirtualMachine.exchange)/\(bus.suffix(3))_\(Self.fileName(format.fourCC))_\(size)"
                    do {
                        let camera = try TestCamera(configuration)
                        let frame = try camera.next()
                        let packed = try #require(
                            PictureFile.packed(frame), "\(format.fourCC) at \(size) is not converted")
                        try packed.write(to: URL(fileURLWithPath: name + ".i420"))
                    } catch let error as InletError where error.code == .unsupported {
                        refused.insert(format.fourCC.description)
                        continue
                    }
                    let code = Self.fourLetters(format.fourCC)
                    try device.control(
                        "--set-fmt-video", "width=\(size.width),height=\(size.height),field=none,pixelformat=\(code)",
                        "--stream-mmap",
                        "--stream-count", "1", "--stream-to", name + ".raw")
                    taken += 1
                }
            }
            #expect(refused == PictureComparison.unsupported, "\(refused.sorted())")
            print(
                "measured: \(bus): \(taken) pictures of \(info.formats.count) formats, not read: \(refused.sorted().joined(separator: " "))"
            )
        }

        /// As `v4l2-ctl` expects them, with spaces.
        private static func fourLetters(_ code: FourCC) -> String {
            let letters = code.isBigEndian ? String(code.description.dropLast(3)) : code.description
            return letters.padding(toLength: 4, withPad: " ", startingAt: 0) + (code.isBigEndian ? "-BE" : "")
        }

        private static func fileName(_ code: FourCC) -> String { code.description.replacing(" ", with: "-") }
    }
}
