import Foundation
import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Servers that are hostile or broken: each ends in a typed error, in time and without memory growth.
    @Suite(.alone) struct LimitTests {
        private static let kinds: [(HostileServer.Kind, [InletError.Code])] = [
            (.endlessHeader, [.malformedData]), (.endlessLine, [.malformedData]), (.hugeBody, [.malformedData]),
            (.vastLength, [.malformedData]), (.random, [.malformedData]),
            (.garbageStream, [.timedOut, .malformedData]),
            (.blackHole, [.timedOut]), (.slowLoris, [.timedOut]), (.longLength, [.timedOut, .disconnected]),
            (.shortLength, [.timedOut, .disconnected, .malformedData]),
            (.negativeLength, [.timedOut, .malformedData, .disconnected]), (.close, [.disconnected]),
            (.rawFile, [.malformedData, .timedOut, .disconnected]), (.forbidden, [.authenticationFailed]),
            (.notFound, [.notFound]), (.sessionNotFound, [.sessionLost]), (.unavailable, [.serverUnavailable]),
            (.redirectPlain, [.malformedData]), (.redirectFile, [.malformedData]),
        ]

        @Test(
            "A hostile server ends in a typed error, in time and without memory growth", arguments: kinds
        )
        func hostile(_ kind: HostileServer.Kind, _ codes: [InletError.Code]) async throws {
            var options = HostileServer.Options()
            options.kind = kind
            options.interval = 0.1
            options.file = try ScriptClip.of(.small).path
            let server = try HostileServer(options)
            let run = SourceRun(
                .test(server.url("rtsp")) {
                    $0.connectTimeout = .milliseconds(800)
                    $0.firstTimeout = .milliseconds(500)
                    $0.readTimeout = .milliseconds(500)
                }, decodes: false)
            let (before, start) = (Self.memory, ContinuousClock.now)
            let error = try await run.failure()
            let time = ContinuousClock.now - start
            #expect(error.map { codes.contains($0.code) } == true, "\(error.map { "\($0)" } ?? "no error")")
            // The sum of the time-outs, a second for a loaded machine, and the server's time for its garbage.
            #expect(time < .seconds(3), "\(time)")
            #expect(Self.memory - before < 16 << 20, "\((Self.memory - before) >> 10) KiB")
        }

        @Test("A reader that was delayed for longer than read-timeout finds the data that has arrived meanwhile")
        func heldUp() async throws {
            var options = try ScriptClip.of(.slices).options
            options.pictures = 0
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url) { $0.readTimeout = .milliseconds(400) }, decodes: false)
            _ = try await run.open()
            for _ in 0..<3 {
                _ = try await run.next()
                try await Task.sleep(for: .milliseconds(900))
            }
            for _ in 0..<10 { #expect(try await run.next()?.packet != nil) }
            try await run.close()
        }

        @Test("A stream that runs on uses no more memory than at its beginning")
        func memory() async throws {
            var options = try ScriptClip.of(.slices).options
            options.pictures = 0
            options.frameRate = 200
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url), decodes: false)
            _ = try await run.open()
            for _ in 0..<100 { _ = try await run.next() }
            let before = Self.memory
            for _ in 0..<600 { _ = try await run.next() }
            #expect(Self.memory - before < 8 << 20, "\((Self.memory - before) >> 10) KiB")
            try await run.close()
        }

        /// The resident memory of this process in bytes.
        private static var memory: Int {
            let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
        }
    }
}
