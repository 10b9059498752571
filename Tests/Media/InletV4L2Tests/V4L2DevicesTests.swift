import InletCore
import Testing

@testable import InletV4L2

@Suite struct V4L2DevicesTests {
    private static func device(
        _ number: Int, _ name: String, bus: String, id: String? = nil, path: String? = nil, serial: String? = nil,
        trouble: String? = nil
    ) -> V4L2DeviceInfo {
        V4L2DeviceInfo(
            node: "/dev/video\(number)",
            identity: V4L2Identity(name: name, bus: bus, id: id, path: path, serial: serial), trouble: trouble)
    }

    private static let c920 = device(
        0, "HD Pro Webcam C920", bus: "usb-0000:00:14.0-1", id: "usb-046d_HD_Pro_Webcam_C920_AB12-video-index0",
        path: "pci-0000:00:14.0-usb-0:1:1.0-video-index0", serial: "AB12")
    private static let cheap = device(2, "USB Camera", bus: "usb-0000:00:14.0-2", serial: nil)
    private static let twin = device(4, "USB Camera", bus: "usb-0000:00:14.0-3", serial: nil)

    @Test(
        "A camera is found by each part of its identity",
        arguments: [
            V4L2Address.first, .node("/dev/video0"), .id("AB12"), .id("usb-046d_HD_Pro_Webcam_C920_AB12-video-index0"),
            .id("/dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_AB12-video-index0"), .name("c920"),
            .path("pci-0000:00:14.0-usb-0:1:1.0-video-index0"), .path("usb-0000:00:14.0-1"),
            .identity(V4L2Identity(name: "HD Pro Webcam C920", bus: "another plug", serial: "AB12")),
        ])
    func found(address: V4L2Address) throws {
        let found = try V4L2Devices.choose(address, from: [Self.c920, Self.cheap, Self.twin], .capture)
        #expect(found == Self.c920)
    }

    @Test("If two cameras match, the error names both")
    func ambiguous() {
        let error = #expect(throws: InletError.self) {
            try V4L2Devices.choose(.name("usb camera"), from: [Self.c920, Self.cheap, Self.twin], .capture)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("/dev/video2") == true)
        #expect(error?.message.contains("/dev/video4") == true)
    }

    @Test("If no camera matches, the error names the present ones")
    func missing() {
        let error = #expect(throws: InletError.self) {
            try V4L2Devices.choose(.name("Brio"), from: [Self.c920, Self.cheap], .capture)
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("USB Camera (/dev/video2)") == true)
    }

    @Test("If the kernel has a camera without a node, the error names it and states the remedy in a container")
    func withoutNode() {
        let error = #expect(throws: InletError.self) {
            try V4L2Devices.choose(.name("Brio"), from: [Self.cheap], .capture, withoutNode: ["Brio (81:3)"])
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("The kernel also has Brio (81:3), without a node in /dev") == true)
    }

    @Test("The first camera is the first usable one; if none is usable, the first one, whose error is reported")
    func first() throws {
        let locked = Self.device(0, "Locked", bus: "usb-1", trouble: "no permission")
        #expect(try V4L2Devices.choose(.first, from: [locked, Self.cheap], .capture) == Self.cheap)
        #expect(try V4L2Devices.choose(.first, from: [locked], .capture) == locked)
    }

    @Test("A camera is recognised by its serial number at any port; without one, by its port")
    func sameDevice() {
        let plug1 = V4L2Identity(name: "Cam", bus: "usb-1")
        #expect(plug1.isSameDevice(as: V4L2Identity(name: "Cam", bus: "usb-1")))
        #expect(!plug1.isSameDevice(as: V4L2Identity(name: "Cam", bus: "usb-2")))
        #expect(!plug1.isSameDevice(as: V4L2Identity(name: "Other", bus: "usb-1")))
        #expect(!plug1.isSameDevice(as: V4L2Identity(name: "Cam", bus: "usb-1", index: 1)))
        let known = V4L2Identity(name: "Cam", bus: "usb-1", serial: "1")
        #expect(known.isSameDevice(as: V4L2Identity(name: "Cam", bus: "usb-2", serial: "1")))
        #expect(!known.isSameDevice(as: V4L2Identity(name: "Cam", bus: "usb-1", serial: "2")))
    }

    @Test("Devices that appeared or disappeared between two queries are reported, a change of permissions as both")
    func changes() {
        let locked = Self.device(2, "USB Camera", bus: "usb-0000:00:14.0-2", trouble: "no permission")
        #expect(
            V4L2Devices.changes(from: [Self.c920, locked], to: [Self.cheap, Self.twin]) == [
                .disappeared(Self.c920), .disappeared(locked), .appeared(Self.cheap), .appeared(Self.twin),
            ])
        #expect(V4L2Devices.changes(from: [Self.c920], to: [Self.c920]).isEmpty)
    }

    @Test("Codecs, outputs and metadata nodes are not cameras")
    func capabilities() {
        #expect(V4L2Capabilities(rawValue: 0x0000_0001).isCapture)
        #expect(V4L2Capabilities(rawValue: 0x0000_1000).isCapture)
        #expect(!V4L2Capabilities(rawValue: 0x0000_0002).isCapture)
        #expect(V4L2Capabilities(rawValue: 0x0000_0002).isOutput)
        // V4L2_CAP_VIDEO_M2M with both sides, as some codecs report.
        #expect(!V4L2Capabilities(rawValue: 0x0000_8003).isCapture)
        // V4L2_CAP_META_CAPTURE.
        #expect(!V4L2Capabilities(rawValue: 0x0080_0000).isCapture)
    }
}
