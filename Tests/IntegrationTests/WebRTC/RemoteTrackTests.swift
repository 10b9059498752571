#if GStreamer
import Foundation
import Inlet
import ReferenceTools
import Testing

/// Remote tracks as sources: from aiortc's WHEP server, from an aiortc publisher, and from Chromium as a camera.
@Suite(.tags(.chromium, .rtcPeer), .serialized)
struct RemoteTrackTests {
    static let python = PeerProcess.python

    @Test(
        "aiortc's WHEP stream is read completely, with its sender's time, and the session is ended by DELETE",
        arguments: ["H264", "VP8"])
    func viewer(codec: String) async throws {
        let server = try TrackSender(.serve, python: Self.python, token: "let-me-in", codec: codec)
        defer { server.stop() }
        let run = try NetworkRun(
            server.endpoint + "?token=let-me-in&codec=\(codec == "H264" ? "h264" : "vp8")", frames: 90)
        #expect(try await run.play().get() == .frameLimit)
        let readings = run.log.readings
        #expect(readings.count == 90)
        expectWhole(readings)
        #expect(readings.last?.size == ImageSize(width: 640, height: 480))
        #expect(readings.contains { $0.wallClock != nil }, "RTCP's sender reports")
        let figures = try #require(run.capturer.statistics.reception)
        #expect(figures.packets >= 90)
        let seen = try server.report()
        #expect(seen.open == 0, "\(seen.requests)")
        #expect(seen.requests.contains { $0.hasPrefix("DELETE /session/1 Bearer") })
    }

    @Test("Problems with a WHEP server have clear errors")
    func refusals() async throws {
        let server = try TrackSender(.serve, python: Self.python, token: "let-me-in")
        defer { server.stop() }
        let base = "whep+http://127.0.0.1:\(server.port)"
        let free = try FreePort.find()
        let table: [(String, InletError.Code)] = [
            ("\(base)/whep?token=wrong", .authenticationFailed), ("\(base)/none?token=let-me-in", .notFound),
            ("\(base)/busy?token=let-me-in", .serverUnavailable),
            ("whep+http://127.0.0.1:\(free)/whep", .connectionRefused),
        ]
        for (uri, code) in table {
            let outcome = try await NetworkRun(uri).play()
            guard case .failure(let error) = outcome else {
                Issue.record("\(uri): \(outcome)")
                continue
            }
            #expect(error.code == code, "\(uri): \(error)")
            #expect(!"\(error)".contains("let-me-in"))
        }
    }

    @Test("A WHEP server that is killed and comes back is viewed again; one that falls silent is an error")
    func restart() async throws {
        let first = try TrackSender(.serve, python: Self.python)
        let run = try NetworkRun(first.endpoint + "?read-timeout=2s", retry: NetworkRun.quickRetry)
        _ = try await run.play { run in
            try await run.frames(beyond: 30)
            let before = run.log.readings.count
            first.stop()
            let second = try TrackSender(.serve, python: Self.python, port: first.port)
            defer { second.stop() }
            try await run.frames(beyond: before + 60)
            try second.pause(true)
            try await run.until("an error of silence") { $0.failures.contains { $0.code == .timedOut } }
            try second.pause(false)
            let silent = run.log.readings.count
            try await run.frames(beyond: silent + 30)
        }
        let times = run.log.readings.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(
        "aiortc publishes, with ignored sound; a newer publisher replaces it; no publisher is an interruption",
        arguments: ["H264", "VP8"])
    func publisher(codec: String) async throws {
        let port = try FreePort.find()
        let run = try NetworkRun(
            "whip:127.0.0.1:\(port)?token=let-me-in&codec=\(codec == "H264" ? "h264" : "vp8")")
        let endpoint = "http://127.0.0.1:\(port)/whip"
        _ = try await run.play { run in
            try await run.until("an interruption") { $0.isInterrupted }
            let stranger = try TrackSender(.publish, python: Self.python, token: "wrong", codec: codec)
            defer { stranger.stop() }
            #expect(try stranger.publish(to: endpoint) == 401)
            let wrong = try TrackSender(
                .publish, python: Self.python, token: "let-me-in", codec: codec == "H264" ? "VP8" : "H264")
            defer { wrong.stop() }
            #expect(try wrong.publish(to: endpoint) == 422)

            let first = try TrackSender(
                .publish, python: Self.python, token: "let-me-in", codec: codec, hasAudio: true)
            defer { first.stop() }
            #expect(try first.publish(to: endpoint) == 201)
            try await run.frames(beyond: 45)
            expectWhole(run.log.readings)

            let second = try TrackSender(.publish, python: Self.python, token: "let-me-in", codec: codec)
            defer { second.stop() }
            #expect(try second.publish(to: endpoint) == 201)
            // Its numbers restart.
            try await run.until("the second's pictures") {
                let numbers = $0.log.numbers
                return zip(numbers, numbers.dropFirst()).contains { $0 > $1 } && numbers.count > 90
            }
            #expect(run.log.readings.allSatisfy { $0.number != nil })
            try second.leave()
            #expect(try second.report().requests.contains("DELETE 200"))
            try await run.until("an interruption") { $0.isInterrupted }
        }
        let times = run.log.readings.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(run.failures.isEmpty, "\(run.failures)")
    }

    @Test(
        "GStreamer publishes as OBS does: an offer with all its candidates, sound in the bundle, DELETE at the end",
        .enabled(if: RemoteTrackTests.missing == nil, "\(RemoteTrackTests.missing ?? "")"))
    func encoderSoftware() async throws {
        let port = try FreePort.find()
        let run = try NetworkRun("whip:127.0.0.1:\(port)?token=let-me-in")
        _ = try await run.play { run in
            try await run.until("an interruption") { $0.isInterrupted }
            let publisher = try PeerProcess("gst-publisher.py", ["--token", "let-me-in", "--profile", "high"])
            let url = PeerValue.string("http://127.0.0.1:\(port)/whip")
            let answer = try publisher.send("publish", ["url": url], within: .seconds(40))
            #expect(answer["status"]?.int == 201)
            let offer = answer["offer"]?.text ?? ""
            #expect(offer.contains("a=group:BUNDLE video0 audio1\r\n") && offer.contains("m=audio "))
            #expect(offer.contains("a=sendonly\r\n") && offer.contains("a=candidate:"))
            try await run.frames(beyond: 90)
            let readings = run.log.readings
            expectWhole(readings)
            #expect(readings.allSatisfy { $0.size == ImageSize(width: 640, height: 480) })
            #expect(try publisher.send("leave", within: .seconds(20))["status"]?.int == 200)
            try await run.until("an interruption") { $0.isInterrupted }
        }
        #expect(run.failures.isEmpty, "\(run.failures)")
    }

    /// The reason why GStreamer's publisher cannot run here; nil if it can.
    private static let missing = PeerProcess.missing(programs: [], typelibs: ["GstWebRTC", "GstSdp"])

    @Test(
        "Chromium is a camera: every number is read, also after it was hidden, and after it was killed",
        .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
    func phone() async throws {
        let port = try FreePort.find()
        let run = try NetworkRun("whip:127.0.0.1:\(port)")
        let browser = try CameraBrowser()
        defer { browser.stop() }
        _ = try await run.play { run in
            try await run.until("an interruption") { $0.isInterrupted }
            try browser.open("http://127.0.0.1:\(port)/")
            try browser.start()
            try await run.frames(beyond: 60)
            let look = try browser.look()
            #expect(look.state == "live", "\(look)")
            #expect(look.cameras.count == 1)
            #expect(look.width <= 500, "the page is wider than the window: \(look.width)")
            // The first pictures may be small, until Chromium has measured the path's capacity.
            #expect(run.log.cameraMistakes == [])

            try browser.press("hide")
            try await run.until("a black picture") { $0.log.readings.last?.number == nil }
            #expect(try browser.look().isHidden)
            try browser.press("hide")
            try await run.until("a picture") { $0.log.readings.last?.number != nil }

            let before = run.log.readings.count
            try browser.kill()
            try await run.until("an interruption") { $0.isInterrupted }
            try browser.open("http://127.0.0.1:\(port)/#start")
            try await run.frames(beyond: before + 30)
        }
        let times = run.log.readings.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(run.failures.isEmpty, "\(run.failures)")
    }

    @Test(
        "A page without access to the camera reports it, and states what to do",
        .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
    func refusedCamera() async throws {
        let port = try FreePort.find()
        let run = try NetworkRun("whip:127.0.0.1:\(port)")
        let browser = try CameraBrowser()
        defer { browser.stop() }
        _ = try await run.play { run in
            try await run.until("an interruption") { $0.isInterrupted }
            try browser.open("http://127.0.0.1:\(port)/", isRefused: true)
            try browser.start()
            try await run.until("words") { _ in
                (try? browser.look().trouble.contains("access was denied")) == true
            }
            #expect(try browser.look().state == "off")
        }
    }
}

extension NetworkRun {
    /// Whether the source has reported an interruption that has not ended.
    fileprivate var isInterrupted: Bool {
        if case .interrupted = capturer.state { true } else { false }
    }
}
#endif
