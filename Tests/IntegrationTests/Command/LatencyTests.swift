import Foundation
import ReferenceTools
import Testing

/// `inlet latency` against known delays: a proxy holds everything that passes for a fixed time.
@Suite(.tags(.rtcPeer, .server), .serialized) struct LatencyTests {
    private struct Measured: Decodable {
        struct Delay: Decodable {
            var p50: Double
            var least: Double
        }
        var pictures: Int
        var lost: Int
        var delay: Delay

        enum CodingKeys: String, CodingKey {
            case pictures, lost
            case delay = "delay_ms"
        }
    }

    private static func measure(_ arguments: [String]) throws -> Measured {
        let run = try InletProcess.run(["latency", "--duration", "3", "--json"] + arguments)
        try #require(run.status == 0, "\(run.complaints)")
        return try JSONDecoder().decode(Measured.self, from: run.output)
    }

    /// Measures with and without the delay until the difference is right, at most three times, because load on the
    /// machine may delay either.
    ///
    /// The fastest pictures are compared. On a busy machine the median may be later than the proxy's delay, but must
    /// not be earlier.
    ///
    /// - Parameter prepare: called before each measurement.
    private static func expect(
        _ milliseconds: Double, of proxy: FaultProxy, _ arguments: [String], prepare: () throws -> Void = {}
    ) throws {
        var results: [String] = []
        for _ in 0..<3 {
            try proxy.clear()
            try prepare()
            let before = try measure(arguments)
            var delay = FaultProxy.Fault.delay(milliseconds: milliseconds)
            delay.direction = .both
            try proxy.add(delay)
            try prepare()
            let after = try measure(arguments)
            let difference = after.delay.least - before.delay.least
            results.append(
                "\(difference) ms, median \(after.delay.p50 - before.delay.p50) ms, by \(before.pictures) and "
                    + "\(after.pictures) pictures")
            let isRight =
                abs(difference - milliseconds) <= 5 && after.delay.p50 >= before.delay.least + milliseconds - 5
            if isRight, before.pictures > 60, after.pictures > 60 { return }
        }
        Issue.record("A delay of \(milliseconds) ms was measured as \(results)")
    }

    @Test("The delay of a proxy before an RTSP server is measured within 5 ms")
    func network() async throws {
        try await Self.aside {
            let server = try RTSPServer(RTSPServer.Options())
            let proxy = try FaultProxy(to: server.port)
            try Self.expect(120, of: proxy, ["\(proxy.url(server.url))?transport=tcp"])
        }
    }

    @Test("The delay of a proxy on a loop out and back is measured within 5 ms")
    func via() async throws {
        let port = try FreePort.find()
        try await Self.aside {
            let proxy = try FaultProxy(to: port, carrier: .udp)
            try Self.expect(
                80, of: proxy, ["--via", "udp://127.0.0.1:\(proxy.port)", "--from", "udp://127.0.0.1:\(port)"])
        }
    }

    @Test("The delay of a proxy before a media server is measured within 5 ms", arguments: ["rtmp", "rtsp"])
    func server(carrier: String) async throws {
        let port = try FreePort.find()
        try await Self.aside {
            // The server passes on what it receives, so that the pictures come back by another path.
            let back = "udp://127.0.0.1:\(port)"
            let server = try PeerProcess("ffmpeg-receiver.py", ["--kind", carrier, "--forward", back])
            let proxy = try FaultProxy(to: server.ready["port"]?.int ?? 0)
            let url = proxy.url(server.ready["url"]?.text ?? "")
            try Self.expect(90, of: proxy, ["--via", url, "--from", back]) {
                // The server accepts one client in its life.
                try server.send("kill")
                try server.send("again", within: .seconds(20))
            }
        }
    }

    @Test("A stream sent through shared memory comes back complete")
    func sharedMemory() async throws {
        try await Self.aside {
            let name = "latency-\(ProcessInfo.processInfo.processIdentifier)"
            let seen = try Self.measure(["--via", "shm:\(name)"])
            #expect(seen.pictures > 60)
            #expect(seen.delay.least >= 0)
        }
    }

    @Test("A plot is written; a missing code, server or common clock is an error with its own status")
    func errors() async throws {
        let port = try FreePort.find()
        try await Self.aside {
            let folder = try TemporaryFolder()
            let plot = folder.path("plot.svg")
            let run = try InletProcess.run(
                ["latency", "pattern:timecode?size=320x240&fps=30", "--frames", "20", "--warm-up", "0", "--plot", plot])
            #expect(run.status == 0)
            #expect(String(decoding: run.output, as: UTF8.self).contains("20 pictures"))
            #expect(try String(contentsOfFile: plot, encoding: .utf8).hasPrefix("<svg"))
            let smpte = try InletProcess.run(["latency", "pattern:smpte", "--timeout", "1", "--warm-up", "0"])
            #expect(smpte.status == 65)
            let other = try InletProcess.run([
                "latency", "pattern:timecode?pace=none&fps=1", "--frames", "5", "--warm-up", "0",
            ])
            #expect(other.status == 69)
            let nobody = try InletProcess.run(["latency", "--via", "rtmp://127.0.0.1:\(port)/x", "--timeout", "3"])
            #expect(nobody.status == 75)
            #expect(try InletProcess.run(["latency"]).status == 64)
            #expect(try InletProcess.run(["latency", "pattern:timecode", "--from", "x"]).status == 64)
        }
    }

    /// Runs on its own thread, because a run takes seconds.
    private static func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
