#if GStreamer
import FFmpegSink
import Foundation
import InletCapture
import InletCore
import PatternSource
import ReferenceTools
import Testing

@testable import WebRTCSink

/// Publishing to an aiortc server.
@Suite(
    .tags(.rtcPeer), .serialized,
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct WHIPPeerTests {
    /// Runs a capture to a server while `body` runs.
    static func publish(
        _ url: String, token: String? = nil, _ body: (Capturer, AsyncStream<CapturerEvent>) async throws -> Void
    ) async throws {
        var sink = WHIPSinkConfiguration(url, token: token) { FFmpegVideoEncoder() }
        sink.backOff = .milliseconds(100)
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 640, height: 480), frameRate: Rational(30)))
        capturer.attach(sink)
        let events = capturer.events
        async let outcome = capturer.run()
        do {
            try await body(capturer, events)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    static func server(port: Int = 0, token: String? = nil, link: String? = nil) throws -> WHIPServer {
        try WHIPServer(python: ViewerRun.aiortcPython, port: port, token: token, link: link)
    }

    @Test("aiortc reads the numbers, also after the server was killed and came back, and is notified at the end")
    func restart() async throws {
        let first = try Self.server(token: "let-me-in")
        let port = first.port
        var second: WHIPServer?
        try await Self.publish(first.address + "/whip?room=1", token: "let-me-in") { _, _ in
            let seen = try await aside { try first.pictures(60) }
            #expect(seen.count >= 60)
            #expect(seen.unread == 0)
            #expect(seen.rises)
            #expect(seen.size == "640x480")
            #expect(seen.sessions == 1)
            #expect(seen.requests.contains("POST first/whip?room=1 Bearer let-me-in"))
            first.stop()
            let server = try Self.server(port: port, token: "let-me-in")
            second = server
            let again = try await aside { try server.pictures(30) }
            #expect(again.count >= 30)
            #expect(again.unread == 0)
        }
        let last = try #require(second)
        let end = try last.requested("DELETE")
        #expect(end.open == 0)
        last.stop()
    }

    @Test("Redirections are followed; the token goes to no other site")
    func redirections() async throws {
        let server = try Self.server(token: "let-me-in")
        defer { server.stop() }
        for path in ["/here", "/moved", "/busy"] {
            try await Self.publish(server.address + path, token: "let-me-in") { _, _ in
                let seen = try await aside { try server.pictures(5) }
                #expect(seen.count >= 5, "\(path) \(seen.requests)")
            }
        }
        let seen = try server.report()
        #expect(seen.sessions == 3)
        #expect(seen.open == 0)
        #expect(seen.requests.contains("POST first/whip Bearer let-me-in"))
        #expect(seen.requests.contains("POST other/whip"))
        #expect(!seen.requests.contains { $0.contains(" other/") && $0.contains("Bearer") })
    }

    @Test("An untrusted certificate ends the sink, and nothing is sent to the server")
    func certificate() async throws {
        let server = try WHIPServer(python: ViewerRun.aiortcPython, token: "let-me-in", isTLS: true)
        defer { server.stop() }
        try await Self.publish(server.address + "/whip", token: "let-me-in") { capturer, events in
            for await event in events {
                guard case .sinkEnded(_, _, let error) = event else { continue }
                #expect(error?.code == .tlsFailed, "\(String(describing: error))")
                #expect(error.map { "\($0)".contains("certificate") } == true)
                break
            }
            #expect(capturer.state == .live)
        }
        #expect(try server.report().requests == [])
    }

    @Test("A permanent refusal by the server ends the sink with an error; the source continues")
    func refusals() async throws {
        let server = try Self.server(token: "let-me-in")
        defer { server.stop() }
        let table: [(String, String, InletError.Code)] = [
            ("/whip", "wrong", .authenticationFailed), ("/none", "let-me-in", .notFound),
            ("/page", "let-me-in", .malformedData), ("/bare", "let-me-in", .malformedData),
            ("/huge", "let-me-in", .malformedData), ("/circle", "let-me-in", .malformedData),
        ]
        for (path, token, code) in table {
            try await Self.publish(server.address + path, token: token) { capturer, events in
                for await event in events {
                    guard case .sinkEnded(_, _, let error) = event else { continue }
                    #expect(error?.code == code, "\(path): \(String(describing: error))")
                    #expect(error.map { "\($0)".contains(path) && !"\($0)".contains("let-me-in") } == true)
                    break
                }
                #expect(capturer.state == .live, "\(path)")
            }
        }
    }
}

/// Runs blocking calls on a separate thread.
func aside<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: .init { try body() }) }
    }
}
#endif
