import InletCore
import InletDecode
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct SourcePluginTests {
    private static func configuration(_ uri: String) throws -> V4L2Configuration? {
        var registry = PluginRegistry()
        registry.register(SourcePlugin.v4l2)
        return try registry.source(uri) as? V4L2Configuration
    }

    @Test(
        "A camera is addressed as people write it",
        arguments: [
            ("v4l2:", V4L2Address.first), ("v4l2:/dev/video2", .node("/dev/video2")),
            ("v4l2:video2", .node("/dev/video2")),
            ("v4l2:2", .node("/dev/video2")), ("v4l2:?name=C920", .name("C920")), ("v4l2:?id=AB12", .id("AB12")),
            ("v4l2:?path=usb-0000:00:14.0-1", .path("usb-0000:00:14.0-1")),
        ])
    func addresses(uri: String, address: V4L2Address) throws {
        #expect(try Self.configuration(uri)?.address == address)
    }

    @Test("Each capturer remembers separately the camera that it had open; copies of a configuration share nothing")
    func memory() throws {
        let configuration = V4L2Configuration(.node("/dev/video0"))
        let first = try #require(configuration.scopedToCapturer() as? V4L2Configuration)
        let second = try #require(configuration.scopedToCapturer() as? V4L2Configuration)
        #expect(configuration.seen == nil)
        #expect(first.seen != nil && second.seen != nil)
        #expect(first.seen !== second.seen)
        var other = first
        other.address = .node("/dev/video1")
        let third = try #require(other.scopedToCapturer() as? V4L2Configuration)
        #expect(third.seen !== first.seen)
    }

    @Test("Options reach the configuration")
    func options() throws {
        let found = try #require(
            try Self.configuration(
                "v4l2:?size=640x480&fps=30000/1001&format=MJPG&range=pc&matrix=709&damage=deliver&buffers=4&copies=0&io=userptr&input=1&controls=a=1,b=2&maximum-lag=40ms&decoder=ffmpeg"
            ))
        #expect(found.size == ImageSize(width: 640, height: 480))
        #expect(found.frameRate == Rational(30000, 1001))
        #expect(found.format == "MJPG")
        #expect(found.range == .full)
        #expect(found.matrix == .bt709)
        #expect(found.damage == .deliver)
        #expect(found.buffers == 4)
        #expect(found.copies == 0)
        #expect(found.method == .own)
        #expect(found.input == 1)
        #expect(found.controls == "a=1,b=2")
        #expect(found.maximumLag == .milliseconds(40))
        #expect(found.decoder == "ffmpeg")
        let decoding = found.decoding
        #expect(decoding.damage == .mark)
        #expect(decoding.colorRange == .full && decoding.colorMatrix == .bt709)
        #expect(decoding.maximumLag == .milliseconds(40) && decoding.decoder == "ffmpeg")
        #expect(try Self.configuration("v4l2:")?.decoding.decoder == "turbojpeg")
    }

    @Test(
        "Impossible settings are refused before anything is opened",
        arguments: [
            "v4l2:/dev/video0?name=C920", "v4l2:?id=a&path=b", "v4l2:?size=0x0", "v4l2:?fps=0", "v4l2:?fps=-1",
            "v4l2:?format=TOOLONG", "v4l2:?buffers=1", "v4l2:?io=dmabuf", "v4l2:?brightness=1",
        ])
    func refused(uri: String) {
        let error = #expect(throws: InletError.self) { try Self.configuration(uri) }
        #expect(error?.code == .invalidConfiguration)
    }
}
