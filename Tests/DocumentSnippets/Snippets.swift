// The Swift examples of the documents, each as the body of a function. Written by:
// INLET_WRITE_SNIPPETS=1 swift test --filter SwiftExampleTests
// swift-format-ignore-file
import Inlet

enum Snippets {
#if GStreamer
    static func Docs_guide_browsers_md_1(capturer: Capturer) async throws {
        let sink = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
        capturer.attach(sink)
        try await capturer.run()
    }
#endif
#if GStreamer
    static func Docs_guide_browsers_md_2(capturer: Capturer) async throws {
        let json = #"{"rateControl": "loss", "maxBitrate": 4000000}"#
        var page = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
        try page.apply(RTCConfiguration(json: Array(json.utf8)))
        capturer.attach(page)
    }
#endif
#if GStreamer
    static func Docs_guide_data_channels_md_1(capturer: Capturer, sink: WebRTCSinkConfiguration) async throws {
        var sink = WHIPSinkConfiguration("https://media.example/live/whip") { FFmpegVideoEncoder() }
        sink.openedChannels = [DataChannelParameters("orders"), DataChannelParameters("positions", .lossy)]
        capturer.attach(sink)
        for await message in sink.messaging.messages where message.channel == "orders" {
            try sink.messaging.send(.text("done"), labelled: "orders")
        }
    }
#endif
#if GStreamer
    static func Docs_guide_data_channels_md_2() async throws {
        var camera = WHIPSourceConfiguration()
        camera.channels.channels = 2
        let capturer = Capturer(camera)
        async let ended = capturer.run()
        for await message: PeerMessage in camera.messaging.messages {
            try camera.messaging.send(.text("seen"), labelled: message.channel, to: message.peer)
        }
        print(try await ended)
    }
#endif
    static func Docs_guide_injecting_frames_md_1() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
        let capturer = Capturer(InjectedSourceConfiguration(injector))
        capturer.attach(try PluginRegistry.standard.sink("null:"))
        async let ended = capturer.run()

        let pool = I420BufferPool(capacity: 8)
        for number in 0..<30 {
            var draft = try pool.makeBuffer(size: ImageSize(width: 640, height: 360))
            draft.fill(y: UInt8(8 * number), u: 128, v: 128)
            try injector.push(draft.publish(), pts: MediaTime(ticks: Int64(number), timeBase: Rational(1, 30)))
        }
        injector.end()
        print(try await ended, injector.statistics)
    }
    static func Docs_guide_injecting_frames_md_2() async throws {
        let size = ImageSize(width: 320, height: 240)
        let pixels = [UInt8](repeating: 128, count: size.width * size.height * 4)
        let screen = try FrameInjector()
        try screen.push(copying: pixels.span, pixelFormat: .bgra, size: size, rotation: .clockwise90)
    }
    static func Docs_guide_injecting_frames_md_3() async throws {
        let game = try FrameInjector()
        let wants = game.wants
        if wants.isActive {
            let size = wants.size(for: ImageSize(width: 1920, height: 1080))
            try game.push(I420Draft(size: size).publish())
        }
        game.adapt(maximumSize: ImageSize(width: 1280, height: 720), maximumFrameRate: Rational(15))
    }
    static func Docs_guide_injecting_frames_md_4() async throws {
        let marked = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
        var directory = InjectorDirectory()
        try directory.add(marked, as: "marked")
        var registry = PluginRegistry.standard
        registry.register(SourcePlugin.inject(directory))
        let output = Capturer(try registry.source("inject:marked"))
    }
    static func Docs_guide_network_cameras_md_1(encoder: any FrameSinkConfiguration) async throws {
        let source = try PluginRegistry.standard.source("rtsp://camera/stream?transport=tcp")
        var configuration = CapturerConfiguration()
        configuration.timeouts.nextFrame = .seconds(5)
        configuration.outage = OutagePolicy(.hold)
        let capturer = Capturer(source, configuration: configuration)
        capturer.attach(encoder, queue: .latest)
        async let ended = capturer.run()
        for await event in capturer.events {
            if case .sourceFailed(let error, let delay) = event { print(error.code, delay ?? .zero) }
        }
        print(try await ended)
    }
    static func Docs_guide_recording_md_1(capturer: Capturer) async throws {
        let recording = try FFmpegSinkConfiguration(
            EncoderSettings(rate: .bitrate(2_500_000), preset: .balanced), to: FFmpegOutput(.mp4, to: "camera-{n}.mp4"))
        capturer.attach(recording, queue: .buffered(60, dropping: .oldest), onFailure: .restart())
        try await capturer.run()
    }
    static func Docs_guide_webcams_md_1() async throws {
        let camera = try PluginRegistry.standard.source("v4l2:?name=C920&size=1280x720")
        let capturer = Capturer(camera)
        try await capturer.run(queue: .latest) { frames in
            for try await frame in frames where !frame.flags.contains(.placeholder) {
                print(frame.timestamp, frame.size)
            }
        }
    }
    static func Docs_guide_writing_a_decoder_md_1() async throws {
        final class BlackDecoder: VideoDecoder {
            private let pool = I420BufferPool(capacity: 8)
            private var size = ImageSize(width: 16, height: 16)
            private var waiting: SourcePacket?
            private var isDraining = false

            let reorderDepth = 0
            var skipsNonReferencePictures = false

            func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {
                guard parameters.size.isValid else {
                    throw InletError(.unsupported, "The stream does not state the size of its pictures.")
                }
                size = parameters.size
            }

            func send(_ packet: SourcePacket) throws -> PacketFault? {
                waiting = packet
                return nil
            }

            func receive() throws -> DecoderOutput {
                guard let packet = waiting else { return isDraining ? .ended : .needsPacket }
                waiting = nil
                var draft = try pool.makeBuffer(size: size)
                draft.fillBlack()
                let flags: FrameFlags = packet.flags.contains(.key) ? .key : []
                return .picture(SourceFrame(draft.publish(), pts: packet.pts, sequence: 0, flags: flags))
            }

            func drain() { isDraining = true }

            func reset() { (waiting, isDraining) = (nil, false) }
        }

        var registry = PluginRegistry.standard
        registry.register(
            DecoderPlugin("black", summary: "Sees nothing.", preference: -1, decodes: { $0 == .mjpeg }) { BlackDecoder() })
        let capturer = Capturer(try registry.source("http://camera/video.mjpg?decoder=black"))
        try await capturer.run()
    }
    static func Docs_guide_writing_a_sink_md_1(capturer: Capturer) async throws {
        final class Brightness: FrameSink {
            // Scaled and thinned before it gets here, once for all sinks that want the same.
            let wants = SinkWants(size: ImageSize(width: 64, height: 36), maximumFrameRate: Rational(2))

            func consume(_ frame: VideoFrame) throws {
                var sum = 0
                for y in 0..<frame.size.height {
                    let row = frame.buffer.row(y, of: .y)
                    for x in row.indices { sum += Int(row[x]) }
                }
                print(frame.timestamp, sum / (frame.size.width * frame.size.height))
            }
        }

        struct BrightnessConfiguration: FrameSinkConfiguration {
            var redactedURI: String { "brightness:" }
            func makeSink() -> any FrameSink { Brightness() }
        }

        capturer.attach(BrightnessConfiguration(), queue: .latest)
        try await capturer.run()
    }
    static func Docs_guide_writing_a_source_md_1() async throws {
        final class GreySource: FrameSource {
            private let pool = I420BufferPool(capacity: 8)
            private var number: UInt64 = 0
            private let size = ImageSize(width: 320, height: 240)

            func open(_ context: SourceContext) throws -> SourceFormat {
                SourceFormat(
                    size: size, pixelFormat: .yuv420p, frameRate: Rational(10), timeBase: Rational(1, 10),
                    colorSpace: .bt601, sampleAspectRatio: Rational(1), pacing: .live, container: "grey")
            }

            func next(_ context: SourceContext) throws -> SourceItem? {
                try context.sleep(until: context.clock.now + .milliseconds(100))
                var draft = try pool.makeBuffer(size: size)
                draft.fill(y: UInt8(truncatingIfNeeded: number), u: 128, v: 128)
                defer { number += 1 }
                let pts = MediaTime(ticks: Int64(number), timeBase: Rational(1, 10))
                return .frame(SourceFrame(draft.publish(), pts: pts, sequence: number, colorSpace: .bt601, flags: .key))
            }

            func close() {}
        }

        struct GreyConfiguration: FrameSourceConfiguration {
            var redactedURI: String { "grey:" }
            func makeSource() -> any FrameSource { GreySource() }
        }

        var registry = PluginRegistry.standard
        let info = PluginInfo(
            name: "GreySource", schemes: ["grey"], summary: "Shades of grey.", usage: "grey:", options: [],
            examples: ["grey:"])
        registry.register(SourcePlugin(info) { _, _ in GreyConfiguration() })
        let capturer = Capturer(try registry.source("grey:"))
        try await capturer.run()
    }
    static func Docs_reference_metrics_md_1() async throws {
        let capturer = Capturer(try PluginRegistry.standard.source("v4l2:/dev/video0"))
        let metrics = CaptureMetrics(capturer, interval: .seconds(5))
        async let published: Void = metrics.run()
        try await capturer.run()
        await published
    }
#if GStreamer
    static func Docs_reference_metrics_md_2(sink: WebRTCSinkConfiguration) async throws {
        async let published: Void = WebRTCMetrics(sink.broadcast).run()
    }
#endif
    static func Plugins_Filter_README_md_1() async throws {
        var configuration = CapturerConfiguration()
        configuration.filters = [.ffmpeg]
        var wants = SinkWants()
        wants.filters = [.deinterlacing, .toneMapping]
    }
    static func Plugins_Inject_README_md_1() async throws {
        let injector = try FrameInjector()
        let capturer = Capturer(InjectedSourceConfiguration(injector))
        capturer.attach(try PluginRegistry.standard.sink("null:"))
        async let ended = capturer.run()
        try injector.push(I420Draft(size: ImageSize(width: 640, height: 360)).publish())
        injector.end()
        _ = try await ended
    }
#if GStreamer
    static func Plugins_WebRTC_Sink_README_md_1(capturer: Capturer) async throws {
        let sink = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
        capturer.attach(sink)
        sink.broadcast.isEnabled = false                         // black, or what disabledPicture says
        try sink.broadcast.adapt(width: 640, height: 360, frameRate: Rational(15))
        sink.broadcast.unpublish()                               // sessions end; the page says that the camera is off, until publish()
        for await state in sink.broadcast.states { print(state.shown) }   // live, muted, disabled, off
    }
#endif
#if GStreamer
    static func Plugins_WebRTC_Sink_README_md_2(sink: WebRTCSinkConfiguration, timecode: [UInt8]) async throws {
        for await message in sink.broadcast.messages {
            try sink.broadcast.send(.text("moved"), over: .ordered, to: message.peer)
        }
        try sink.broadcast.send(.binary(timecode), over: .lossy)          // to all
    }
#endif
#if GStreamer
    static func Plugins_WebRTC_Sink_README_md_3(capturer: Capturer, channel: any SignalingChannel) async throws {
        let publisher = PeerPublisher { FFmpegVideoEncoder() }
        capturer.attach(PeerSinkConfiguration(publisher))
        var policy = PeerSessionPolicy(role: .offering, name: "studio")
        policy.trickles = true
        let session = try publisher.connect(channel, policy)
        for await event in session.events() { print(event) }
    }
#endif
#if GStreamer
    static func Plugins_WebRTC_Sink_README_md_4(session: any PeerSession, timecode: [UInt8]) async throws {
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
#if GStreamer
    static func Plugins_WebRTC_Sink_README_md_5(channel: any SignalingChannel) async throws {
        let publisher = PeerPublisher { FFmpegVideoEncoder() }
        let policy = PeerSessionPolicy(role: .offering, name: "studio")
        let session = try publisher.connect(channel, policy) { $0.isReceiving = true }
        try session.configure { $0.isSending = false }
    }
#endif
#if GStreamer
    static func Plugins_WebRTC_Sink_README_md_6(capturer: Capturer) async throws {
        capturer.attach(WebRTCSinkConfiguration { FFmpegVideoEncoder() })
    }
#endif
#if GStreamer
    static func Plugins_WebRTC_Source_README_md_1(session: any PeerSession) async throws {
        var remote = RemoteTrackConfiguration(session)
        remote.decoders = PluginRegistry.standard.decoders
        try await Capturer(remote).run()
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
        configuration.retry = .attempts(10)                 // with jitter; a password that has never worked is final
        configuration.timeouts.nextFrame = .seconds(5)      // then the source is restarted
        configuration.outage = OutagePolicy(.text)          // the sinks' picture meanwhile, flagged as a placeholder
        let capturer = Capturer(source, configuration: configuration)
        capturer.attach(encoder, queue: .latest, wants: SinkWants(size: ImageSize(width: 640, height: 360)))
        async let ended = capturer.run()
        for await event in capturer.events { print(event) } // opening, live, stalled, waiting before attempt 2, ...
        print(capturer.statistics.supervision, try await ended)
    }
    static func SECURITY_md_1(uri: String) async throws {
        var registry = PluginRegistry()            // reads no file and no variable for anybody's options
        registry.register(SourcePlugin.rtsp)       // rtsp: and rtsps:
        registry.register(SourcePlugin.network)    // http:, rtmp:, srt:, udp: and ffmpeg:
        let source = try registry.source(uri)
    }
}
