import Foundation
import InletCore
import ReferenceTools
import Testing

/// Cameras without viewers: nothing is decoded for them, and a new viewer has pictures at once.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 5)) struct UnwatchedTests {
    /// The value of a metric for a camera and some of its labels; 0 if it is missing.
    private static func figure(
        _ name: String, _ labels: [String] = [], camera: String = "door", of serve: ServeProcess
    ) async throws -> Double {
        let (_, body) = try await serve.ask("GET", "/metrics")
        let line = String(decoding: body, as: UTF8.self).split(separator: "\n").first { line in
            line.hasPrefix(name + "{") && (labels + ["camera=\"\(camera)\""]).allSatisfy { line.contains($0) }
        }
        return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
    }

    /// The number of decoded pictures: each is offered to the view, which skips pictures without viewers.
    private static func offered(_ serve: ServeProcess) async throws -> Double {
        try await figure("inlet_sink_frames_dropped_total", ["sink=\"view\"", "reason=\"notConnected\""], of: serve)
    }

    /// Waits until no picture is decoded during two seconds of packets.
    private static func waitForRest(_ serve: ServeProcess) async throws {
        var (before, captured) = (-1.0, 0)
        let camera = try await serve.camera("door") { _ in true }
        captured = camera.captured
        for _ in 0..<30 {
            let now = try await offered(serve)
            captured = try await serve.camera("door") { $0.captured > captured + 40 }.captured
            if now == before { return }
            before = now
        }
        throw ServeProcess.Failure(description: "Pictures are decoded although nobody watches.")
    }

    @Test(
        "Nothing is decoded without viewers; a snapshot and a new sink have pictures as ffmpeg decodes them",
        arguments: ["shared", "own"])
    func unwatched(process: String) async throws {
        // Key frames are rare, and cannot be requested.
        var options = RTSPServer.Options()
        (options.size, options.frameRate, options.keyFrameInterval) = (
            ImageSize(width: 320, height: 240), Rational(20), 60
        )
        let server = try RTSPServer(options)
        let head = "process: \(process)}\ncameras:\n  door:\n    source: \"\(server.url)\"\n    sinks:\n"
        let record = "      - mp4:record.mp4?codec=copy\n"
        let serve = try await ServeProcess("defaults: {" + head + record)
        try await Self.waitForRest(serve)
        for _ in 0..<2 {
            let (status, jpeg) = try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg", token: ServeProcess.viewer)
            #expect(status == 200 && jpeg.starts(with: [0xff, 0xd8]))
            try await Self.waitForRest(serve)
        }
        #expect(try await serve.camera("door") { _ in true }.state == "live")
        // Another sink is attached, and gets pictures from then on.
        try serve.write("defaults: {" + head + record + "      - {uri: 'framemd5:sums', queue: lossless}\n")
        let sums = serve.folder.path("sums")
        var before = 0
        try await Waiting.until("pictures", progress: { before }) {
            before = (try? FrameLines(Data(contentsOf: URL(fileURLWithPath: sums))).lines.count) ?? 0
            return before > 30
        }
        #expect(await serve.end() == 0)
        let own = FrameLines(try Data(contentsOf: URL(fileURLWithPath: sums))).lines.map(\.md5)
        let reference = try FrameLines.ffmpeg(serve.folder.path("record.mp4")).lines.map(\.md5)
        let start = try #require(reference.firstIndex(of: own[0]), "ffmpeg decodes no picture equal to the first one")
        // The last pictures of the recording may have arrived before or after the end of the other sink.
        let common = min(own.count, reference.count - start)
        #expect(common > 25)
        #expect(Array(own.prefix(common)) == Array(reference[start..<start + common]))
    }
}
