#if GStreamer
import FFmpegDecoder
import FFmpegSink
import InletCapture
import InletCore
import InletRTC
import Logging
import PatternSource
import ReferenceTools
import Testing
import WebRTCSink
import WebRTCSource

@testable import KinesisPlugin

/// Pictures over the signaling of a local service, with aiortc at the other end.
@Suite(.tags(.rtcPeer, .python), .serialized) struct KinesisMediaTests {
    @Test(
        "aiortc viewers see every number of the master, in any candidate order, even if they join late or again"
    )
    func master() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(15)))
        let configuration = service.configuration()
        let sink = SignaledSinkConfiguration(name: "kvs:porch", makeEncoder: { FFmpegVideoEncoder() }) {
            () throws(InletError) in
            try KinesisSignaling(configuration, KinesisService.environment(), Logger(label: "test"))
        }
        capturer.attach(sink)
        async let outcome = capturer.run()
        do {
            _ = try service.process.send("connected", ["sockets": 1], within: .seconds(40))
            for (client, candidatesFirst) in [("one", false), ("two", true), ("one", true)] {
                try service.process.send(
                    "join", ["client": .string(client), "candidatesFirst": .bool(candidatesFirst)],
                    within: .seconds(20))
                let seen = try service.wait(30, client: client)
                #expect((seen["count"]?.int ?? 0) >= 30, "\(client): \(seen) \(service.process.log)")
                #expect(seen["unread"] == 0)
                #expect(seen["largest"] == 1, "\(client): \(seen)")
                #expect(seen["rises"] == true)
                if client == "one" { try service.process.send("leave", ["client": "one"]) }
            }
            // A master that reconnects keeps the sessions.
            try service.process.send("drop")
            let before = try service.wait(0, client: "two")["count"]?.int ?? 0
            #expect((try service.wait(before + 15, client: "two")["count"]?.int ?? 0) >= before + 15)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    @Test("A sink whose credentials have expired fails with that error")
    func failure() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        try service.process.send("plan", ["names": .list(["ExpiredTokenException"])])
        let configuration = service.configuration()
        var settings = CapturerConfiguration()
        settings.endsWithoutSinks = true
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(15)),
            configuration: settings)
        let sink = SignaledSinkConfiguration(name: "kvs:porch", makeEncoder: { FFmpegVideoEncoder() }) {
            () throws(InletError) in
            try KinesisSignaling(configuration, KinesisService.environment(), Logger(label: "test"))
        }
        capturer.attach(sink)
        let events = capturer.events
        _ = try await capturer.run()
        var end: InletError?
        for await event in events { if case .sinkEnded(_, _, let error) = event { end = error } }
        #expect(end?.code == .authenticationFailed)
        #expect(
            end?.description.contains("kvs:porch: The credentials of AWS have expired") == true,
            "\(end.debugDescription)")
    }

    @Test("A viewer reads the numbers of an aiortc master in order")
    func viewer() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        try service.process.send("join", ["client": ""], within: .seconds(20))
        var configuration = service.configuration()
        configuration.role = .viewer(clientID: "inlet")
        let viewer = configuration
        var source = RemoteTrackConfiguration { () throws(InletError) in
            try KinesisViewerChannel(viewer, KinesisService.environment(), Logger(label: "test"))
        }
        source.role = .offering
        source.track.codec = .vp8
        source.track.connectTimeout = .seconds(20)
        source.decoders = [.ffmpeg]
        let capturer = Capturer(source)
        let numbers = try await capturer.run { frames in
            var numbers: [UInt32] = []
            for try await frame in frames {
                guard let code = TimecodeReader.read(frame.buffer) else { continue }
                numbers.append(code.frame)
                if numbers.count == 40 { break }
            }
            return numbers
        }
        try #require(numbers.count == 40)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 > $0 })
    }

    @Test("A viewer without a channel to view gets an error")
    func noChannel() async throws {
        let service = try KinesisService(channel: nil)
        defer { service.stop() }
        var configuration = service.configuration("nowhere")
        configuration.role = .viewer(clientID: "inlet")
        let viewer = configuration
        var source = RemoteTrackConfiguration { () throws(InletError) in
            try KinesisViewerChannel(viewer, KinesisService.environment(), Logger(label: "test"))
        }
        source.role = .offering
        source.decoders = [.ffmpeg]
        var policy = CapturerConfiguration()
        policy.retry = .never
        let capturer = Capturer(source, configuration: policy)
        let error = await #expect(throws: InletError.self) { try await capturer.run() }
        #expect(error?.code == .notFound, "\(String(describing: error))")
    }
}
#endif
