import Foundation
import InletCore
import ReferenceTools
import Testing

/// The machine's clock, which libfaketime steps for the daemon while it runs.
@Suite(.tags(.daemon, .server), .fewDaemons, .takes(atMostMinutes: 3)) struct ClockStepTests {
    private struct List: Decodable {
        struct Gap: Decodable {
            var offset: Double
            var length: Double
        }

        struct Item: Decodable {
            var name: String
            var state: String
            var asked: String?
            var gaps: [Gap]
        }
        var recordings: [Item]
    }

    private static func list(_ serve: ServeProcess) async throws -> [List.Item] {
        try JSONDecoder().decode(
            List.self, from: await serve.ask("GET", "/v1/cameras/door/recordings").body
        ).recordings
    }

    /// The times of a recording's packets in seconds, from ffprobe.
    private static func times(_ path: String) async throws -> [Double] {
        let text = try await ReferenceCommand.runAside(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path])
        return String(decoding: text, as: UTF8.self).split(whereSeparator: { $0.isNewline || $0 == "," })
            .compactMap { Double($0) }
    }

    private static func time(_ text: String) throws -> Double {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return try format.parse(text).timeIntervalSince1970
    }

    @Test(
        "Stepping the clock by a day reopens no camera and moves no time in a recording",
        arguments: [(step: "+1d", seconds: 86_400.0), ("-1d", -86_400)])
    func step(_ step: String, seconds: Double) async throws {
        let camera = try RTSPServer(
            RTSPServer.Options(size: ImageSize(width: 160, height: 120), frameRate: Rational(20), keyFrameInterval: 20))
        let folder = try TemporaryFolder()
        let clock = try await FakeClock(in: folder)
        let serve = try await ServeProcess(
            """
            defaults:
              record: {folder: "\(folder.path("asked"))", before: 2s}
            cameras:
              door:
                source: "\(camera.url)?transport=tcp"
                sinks: ["mp4:\(folder.path("door.mp4"))?codec=copy"]
              drawn:
                source: pattern:timecode?size=64x64&fps=10
                sinks: [{uri: "mp4:\(folder.path("drawn.mp4"))", queue: "buffered:500"}]

            """,
            environment: clock.environment)
        func more(_ frames: Int) async throws {
            for name in ["door", "drawn"] {
                let before = try await serve.camera(name) { _ in true }.captured
                _ = try await serve.camera(name) { $0.captured > before + frames }
            }
        }
        try await more(40)
        let stepped = Date().timeIntervalSince1970
        try clock.set(step)
        try await more(30)
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 3}").status == 202)
        let list = try await ServeProcess.last {
            try await Self.list(serve)
        } until: {
            $0.first?.state == "complete"
        }
        let item = try #require(list.first)
        // The daemon's clock is the stepped one, so the request has that time.
        let asked = try Self.time(try #require(item.asked))
        #expect(abs(asked - stepped - seconds) < 120, "\(item)")
        // Pictures that a busy machine skips are a gap, but not one of a day.
        #expect(item.gaps.allSatisfy { (0...10).contains($0.offset) && (0...3).contains($0.length) }, "\(item.gaps)")
        for name in ["door", "drawn"] {
            let status = try await serve.camera(name) { _ in true }
            #expect(status.openings == 1 && status.state == "live", "\(name): \(serve.complaints)")
        }
        #expect(await serve.end() == 0)
        // Recordings use times that clock steps do not change: the recording during the step, and one requested later.
        for file in ["door.mp4", "drawn.mp4", "asked/door/\(item.name)"] {
            let times = try await Self.times(folder.path(file))
            #expect(times.count > 60, "\(file)")
            // A busy machine may skip a picture.
            let steps = zip(times, times.dropFirst()).filter { $1 <= $0 || $1 - $0 > 1 }
            #expect(steps.isEmpty, "\(file): \(steps)")
        }
    }
}
