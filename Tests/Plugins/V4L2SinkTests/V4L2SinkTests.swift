import InletCore
import InletV4L2
import Testing

@testable import V4L2Sink

/// Tests of the sink that need no device. `V4L2DriverTests` write to devices.
@Suite struct V4L2SinkTests {
    private static func configuration(_ uri: String) throws -> V4L2SinkConfiguration? {
        var registry = PluginRegistry()
        registry.register(SinkPlugin.v4l2)
        return try registry.sink(uri) as? V4L2SinkConfiguration
    }

    @Test(
        "Every form of an address is parsed, and the sink's own URI has one form",
        arguments: [
            ("v4l2:", V4L2Address.first, "v4l2:"), ("v4l2:/dev/video40", .node("/dev/video40"), "v4l2:/dev/video40"),
            ("v4l2:video40", .node("/dev/video40"), "v4l2:/dev/video40"),
            ("v4l2:40", .node("/dev/video40"), "v4l2:/dev/video40"),
            ("v4l2:?name=Loopback", .name("Loopback"), "v4l2:?name=Loopback"),
        ])
    func addresses(uri: String, address: V4L2Address, redacted: String) throws {
        let found = try #require(try Self.configuration(uri))
        #expect(found.address == address)
        #expect(found.redactedURI == redacted)
    }

    @Test("Options reach the configuration, and have the defaults in the README")
    func options() throws {
        #expect(try Self.configuration("v4l2:") == V4L2SinkConfiguration(.first, format: .automatic, buffers: 4))
        #expect(
            try Self.configuration("v4l2:?format=YUYV&buffers=32")
                == V4L2SinkConfiguration(.first, format: .yuyv, buffers: 32))
        #expect(try Self.configuration("v4l2:?format=YU12&buffers=2")?.format == .yu12)
        #expect(
            try Self.configuration("v4l2:?format=mjpeg&quality=75")
                == V4L2SinkConfiguration(.first, format: .mjpeg, quality: 75))
        #expect(try Self.configuration("v4l2:")?.quality == 90)
    }

    @Test(
        "Invalid options are refused before anything is opened",
        arguments: [
            "v4l2:/dev/video0?name=Loopback", "v4l2:?format=MJPG", "v4l2:?format=", "v4l2:?buffers=1",
            "v4l2:?buffers=33", "v4l2:?size=640x480", "v4l2:?quality=0", "v4l2:?quality=101",
        ])
    func refused(uri: String) {
        let error = #expect(throws: InletError.self) { try Self.configuration(uri) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(
        "A node that is not an output device is an error about the sink's URI",
        arguments: [
            ("/dev/inlet-no-such-device", InletError.Code.notFound, "does not exist"),
            ("/dev/null", .unsupported, "not a video device"),
            ("/", .inputOutput, "directory"),
        ])
    func unusable(node: String, code: InletError.Code, words: String) throws {
        let sink = V4L2SinkConfiguration(.node(node)).makeSink()
        let format = VideoFormat(size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 30))
        let error = #expect(throws: InletError.self) { try sink.start(format, SinkContext()) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.context.subject == "v4l2:\(node)")
        // A sink that did not start must be finished, too.
        try sink.finish()
    }
}
