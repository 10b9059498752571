// The Swift examples of the documents, each as the body of a function. Written by:
// INLET_WRITE_SNIPPETS=1 swift test --filter SwiftExampleTests
// swift-format-ignore-file
import Inlet

enum Snippets {
    static func Docs_reference_metrics_md_1() async throws {
        let capturer = Capturer(try PluginRegistry.standard.source("v4l2:/dev/video0"))
        let metrics = CaptureMetrics(capturer, interval: .seconds(5))
        async let published: Void = metrics.run()
        try await capturer.run()
        await published
    }
#if WebRTC
    static func Docs_reference_metrics_md_2(sink: WebRTCSinkConfiguration) async throws {
        async let published: Void = WebRTCMetrics(sink.broadcast).run()
    }
#endif
#if WebRTC
    static func Plugins_WebRTCSink_README_md_1(capturer: Capturer) async throws {
        let sink = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
        capturer.attach(sink)
        sink.broadcast.isEnabled = false                         // black, or nothing: sink.disabledPicture
        try sink.broadcast.adapt(width: 640, height: 360, frameRate: Rational(15))
        sink.broadcast.unpublish()                               // sessions end; the page says that the camera is off, until publish()
        for await state in sink.broadcast.states { print(state.shown) }   // live, muted, disabled, off
    }
#endif
#if WebRTC
    static func Plugins_WebRTCSink_README_md_2(sink: WebRTCSinkConfiguration, timecode: [UInt8]) async throws {
        for await message in sink.broadcast.messages {
            try sink.broadcast.send(.text("moved"), over: .ordered, to: message.peer)
        }
        try sink.broadcast.send(.binary(timecode), over: .lossy)          // to all
    }
#endif
#if WebRTC
    static func Plugins_WebRTCSink_README_md_3(capturer: Capturer, channel: any SignalingChannel) async throws {
        let publisher = PeerPublisher { FFmpegVideoEncoder() }
        capturer.attach(PeerSinkConfiguration(publisher))
        var policy = PeerSessionPolicy(role: .offering, name: "studio")
        policy.trickles = true
        let session = try publisher.connect(channel, policy)
        for await event in session.events() { print(event) }
    }
#endif
#if WebRTC
    static func Plugins_WebRTCSink_README_md_4(session: any PeerSession, timecode: [UInt8]) async throws {
        let publisher = PeerPublisher(channels: [DataChannelParameters("orders"), DataChannelParameters("timecode", .lossy)]) {
            FFmpegVideoEncoder()
        }
        for await case .channelOpened(let channel) in session.events() where channel.label == "orders" {
            try session.send(.text("look left"))
            break
        }
        for await message in session.messages() { print(message.channel, message.body) }
    }
#endif
#if WebRTC
    static func Plugins_WebRTCSink_README_md_5(capturer: Capturer) async throws {
        capturer.attach(WebRTCSinkConfiguration { FFmpegVideoEncoder() })
    }
#endif
    static func README_md_1() async throws {

        let source = try PluginRegistry.standard.source("file:clip.mp4")
        try await Capturer(source).run { frames in
            for try await frame in frames {
                print(frame.timestamp, frame.size, frame.buffer.row(0, of: .y)[0])
            }
        }
    }
    static func README_md_2(source: any FrameSourceConfiguration, encoder: any FrameSinkConfiguration) async throws {
        var configuration = CapturerConfiguration()
        configuration.retry = .attempts(10)                 // full jitter; a wrong password is never tried again
        configuration.timeouts.nextFrame = .seconds(5)      // then the source is restarted
        configuration.outage = OutagePolicy(.text)          // what sinks see meanwhile, flagged as placeholders
        let capturer = Capturer(source, configuration: configuration)
        capturer.attach(encoder, queue: .latest, wants: SinkWants(size: ImageSize(width: 640, height: 360)))
        async let ended = capturer.run()
        for await event in capturer.events { print(event) } // opening, live, stalled, waiting before attempt 2, ...
        print(capturer.statistics.supervision, try await ended)
    }
    static func SECURITY_md_1(uri: String) async throws {
        var registry = PluginRegistry()            // reads no file and no variable for anybody's options
        registry.register(SourcePlugin.network)    // rtsp:, http:, rtmp:, srt:, udp: and ffmpeg:
        let source = try registry.source(uri)
    }
}
