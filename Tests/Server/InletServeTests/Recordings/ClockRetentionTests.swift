import Foundation
import InletCore
import ReferenceTools
import Testing

/// Recordings while the machine's clock is wrong, and while it is corrected, by libfaketime. One camera states no times
/// of day, so its recordings have the machine's time; the other one states its own.
@Suite(.tags(.daemon, .server), .fewDaemons, .takes(atMostMinutes: 5)) struct ClockRetentionTests {
    /// A clock that was set to several times in sequence, in seconds since 1970.
    struct Clock: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var zone = "UTC"
        /// The clock at the start, and after a step while the daemon runs.
        var first, second: Double
    }

    private static let now = Date().timeIntervalSince1970.rounded()
    /// The changes of summer time in Berlin in 2026, at 01:00 UTC.
    private static let (spring, autumn) = (1_774_746_000.0, 1_792_890_000.0)

    static let clocks = [
        Clock(testDescription: "1970, later set", first: 1, second: now),
        Clock(testDescription: "1960, later set", first: -315_619_200, second: now),
        Clock(testDescription: "over the end of 32 bits in 2038", first: 2_147_483_646, second: 2_147_570_000),
        Clock(testDescription: "2038, later set", first: 2_147_570_000, second: now),
        Clock(testDescription: "a day forward", first: now, second: now + 86_400),
        Clock(testDescription: "a day back", first: now, second: now - 86_400),
        Clock(testDescription: "spring", zone: "Europe/Berlin", first: spring - 2, second: spring + 600),
        Clock(testDescription: "autumn", zone: "Europe/Berlin", first: autumn - 2, second: autumn + 600),
        Clock(testDescription: "autumn, back", zone: "Europe/Berlin", first: autumn + 600, second: autumn - 600),
    ]

    private struct List: Decodable {
        struct Item: Decodable {
            var name, state, start: String
            var asked: String?
        }
        var recordings: [Item]
    }

    private static let cameras = ["door", "gate"]
    private static let keptSize = 250_000

    private static func list(_ serve: ServeProcess, _ camera: String) async throws -> [List.Item] {
        let (status, body) = try await serve.ask("GET", "/v1/cameras/\(camera)/recordings")
        guard status == 200 else { throw ServeProcess.Failure(description: String(decoding: body, as: UTF8.self)) }
        return try JSONDecoder().decode(List.self, from: body).recordings
    }

    private static func time(_ text: String) throws -> Double {
        try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text).timeIntervalSince1970
    }

    /// The bytes of all files of a camera.
    private static func size(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
            let facts = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return sum + (facts[.size] as? Int ?? 0)
        }
    }

    @Test("Recordings are listed as captured, the oldest are deleted, and limits are kept", arguments: clocks)
    func keeping(_ times: Clock) async throws {
        let folder = try TemporaryFolder()
        let clock = try await FakeClock(in: folder)
        let paced = try PacedCamera(in: folder)
        let own = try RTSPServer(
            RTSPServer.Options(size: ImageSize(width: 160, height: 120), frameRate: Rational(20), keyFrameInterval: 20))
        try clock.set(to: times.first)
        let serve = try await ServeProcess(
            """
            defaults:
              record: {folder: "\(folder.path("kept"))", before: 1s, keep-size: \(Self.keptSize)}
            cameras:
              door: "\(paced.url)"
              gate: "\(own.url)?transport=tcp"

            """, environment: clock.environment.merging(["TZ": times.zone]) { $1 })
        var made: [String: [String]] = [:]

        /// Makes a recording of each camera.
        func record(_ isStepped: Bool = false, from time: Double) async throws {
            for camera in Self.cameras {
                let answer = try await serve.ask("POST", "/v1/cameras/\(camera)/record", body: "{\"seconds\": 1}")
                #expect(answer.status == 202, "\(String(decoding: answer.body, as: UTF8.self))")
            }
            if isStepped { try clock.set(to: times.second) }
            for camera in Self.cameras {
                let known = Set(made[camera, default: []])
                let list = try await ServeProcess.last {
                    try await Self.list(serve, camera)
                } until: {
                    $0.last?.state == "complete" && $0.last.map { !known.contains($0.name) } == true
                }
                let last = try #require(list.last)
                #expect(last.state == "complete", "\(camera): \(list) \(serve.complaints)")
                // A recording continues in another file after a quarter of the limit. New files are listed last.
                let files = list.filter { !known.contains($0.name) }.map(\.name)
                #expect(list.suffix(files.count).map(\.name) == files, "\(camera): \(list) after \(known)")
                made[camera, default: []] += files
                let asked = try Self.time(try #require(last.asked))
                #expect(abs(asked - time) < 240, "\(camera): \(last)")
                // The other camera states its own time, which is right independently of the machine's clock, but not
                // with its first pictures.
                let start = try Self.time(last.start)
                #expect(
                    abs(start - time) < 600 || camera == "gate" && abs(start - Self.now) < 600, "\(camera): \(last)")
            }
        }

        /// Checks that only the oldest recordings are missing, and that the others are within the limit.
        func check() async throws {
            for camera in Self.cameras {
                let path = folder.path("kept/\(camera)")
                let size = try await ServeProcess.last {
                    try Self.size(path)
                } until: {
                    $0 <= Self.keptSize
                }
                let (list, made) = (try await Self.list(serve, camera).map(\.name), made[camera, default: []])
                #expect(!list.isEmpty && list == made.suffix(list.count), "\(camera): \(list) of \(made)")
                #expect(size <= Self.keptSize, "\(camera): \(list)")
                #expect(size > Self.keptSize / 2 || list == made, "\(camera): \(list) \(size)")
            }
        }

        for camera in Self.cameras { _ = try await serve.camera(camera) { $0.captured > 40 } }
        // A change of summer time happens during the first recording.
        try clock.set(to: times.first)
        for _ in 0..<2 { try await record(from: times.first) }
        try await check()
        try await record(true, from: times.first)
        for _ in 0..<2 { try await record(from: times.second) }
        try await check()
        #expect(await serve.end() == 0)
        // A machine without a battery starts at the wrong time again.
        try clock.set(to: times.first)
        try await serve.launch()
        for camera in Self.cameras { _ = try await serve.camera(camera) { $0.captured > 40 } }
        try await check()
        for _ in 0..<2 { try await record(from: times.first) }
        try await check()
        try clock.set(to: times.second)
        try await record(from: times.second)
        try await check()
        for camera in Self.cameras {
            let count = try await Self.list(serve, camera).count
            #expect(count < made[camera, default: []].count, "nothing was deleted of \(camera)")
        }
        #expect(await serve.end() == 0)
    }

    @Test("HLS plays, whatever the machine's clock shows", arguments: [-315_619_200, 1, 2_147_570_000])
    func playing(_ time: Double) async throws {
        let folder = try TemporaryFolder()
        let clock = try await FakeClock(in: folder)
        let camera = try PacedCamera(in: folder)
        try clock.set(to: time)
        let serve = try await ServeProcess(
            "cameras:\n  door: \"\(camera.url)\"\n", tokens: false, environment: clock.environment)
        _ = try await serve.camera("door") { $0.captured > 1 }
        let sums = try await ReferenceCommand.runAside(
            "ffmpeg",
            [
                "-v", "error", "-xerror", "-i", "\(serve.address)/v1/cameras/door/stream.m3u8", "-frames:v", "30", "-f",
                "framemd5", "-",
            ])
        #expect(FrameSums.sums(of: sums).count == 30)
        #expect(await serve.end() == 0)
    }
}
