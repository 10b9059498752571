import Foundation
import InletCore
import ReferenceTools
import Testing

/// Recordings on request, from a third-party camera, read by ffprobe.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct RecordingTests {
    private struct List: Decodable {
        struct Item: Decodable {
            struct Gap: Decodable {
                var offset: Double
                var length: Double
            }
            var name: String
            var bytes: Int
            var state: String
            var start: String
            var length: Double?
            var asked: String?
            var failure: String?
            var gaps: [Gap]
        }
        var recordings: [Item]
    }

    private static func camera() throws -> RTSPServer {
        var options = RTSPServer.Options()
        (options.size, options.frameRate, options.keyFrameInterval) = (
            ImageSize(width: 160, height: 120), Rational(20), 20
        )
        return try RTSPServer(options)
    }

    private static func list(_ serve: ServeProcess) async throws -> [List.Item] {
        let (status, body) = try await serve.ask("GET", "/v1/cameras/door/recordings", token: ServeProcess.viewer)
        guard status == 200 else { throw ServeProcess.Failure(description: String(decoding: body, as: UTF8.self)) }
        return try JSONDecoder().decode(List.self, from: body).recordings
    }

    private static func packets(_ path: String) async throws -> [(time: Double, isKey: Bool)] {
        let text = try await ReferenceCommand.runAside(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", path])
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ",")
            return Double(parts.first ?? "").map { ($0, parts.last?.hasPrefix("K") == true) }
        }
    }

    private static func time(_ text: String) throws -> Double {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return try format.parse(text).timeIntervalSince1970
    }

    @Test("A recording on request begins before the request, and earlier ones survive the end of the process")
    func before() async throws {
        let camera = try Self.camera()
        let folder = try TemporaryFolder()
        let serve = try await ServeProcess(
            """
            defaults:
              record: {folder: "\(folder.path("r{c} %d"))", before: 3s, keep-size: 30M}
            cameras:
              door: "\(camera.url)"
              drawn: pattern:timecode?size=64x64&fps=5

            """)
        _ = try await serve.camera("door") { $0.captured > 100 }
        #expect(try await serve.ask("DELETE", "/v1/cameras/door/record").status == 409)
        #expect(
            try await serve.ask("POST", "/v1/cameras/door/record", token: ServeProcess.viewer, body: "{}").status == 403
        )
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": -1}").status == 422)
        _ = try await serve.camera("drawn") { $0.captured > 1 }
        let drawn = try await serve.ask("POST", "/v1/cameras/drawn/record", body: "{}")
        #expect(drawn.status == 422)
        #expect(String(decoding: drawn.body, as: UTF8.self).contains("pictures, and no packets"))

        #expect(try await serve.ask("POST", "/v1/cameras/door/record?dry-run=true", body: "{}").status == 200)
        #expect(try await Self.list(serve).isEmpty)

        let asked = Date().timeIntervalSince1970
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 6}").status == 202)
        let answered = Date().timeIntervalSince1970
        // A gap: the camera sends nothing for a while.
        try camera.stopSending()
        try await ReferenceCommand.runAside("sleep", ["1.2"])
        try camera.resumeSending()
        let list = try await ServeProcess.last {
            try await Self.list(serve)
        } until: {
            $0.first?.state == "complete"
        }
        let done = Date().timeIntervalSince1970
        let item = try #require(list.first)
        let length = try #require(item.length)
        #expect(list.count == 1 && item.failure == nil)
        // From three seconds before, and the key frame before that.
        let start = try Self.time(item.start)
        #expect(asked - start < 4.6 && answered - start > 2.9, "\(asked) \(answered) \(start)")
        // Longer than from the request to the end, so it includes earlier pictures.
        #expect(length > done - asked + 0.5 || length > 8.5, "\(length)")
        let noted = try Self.time(try #require(item.asked))
        #expect(noted > asked - 0.1 && noted < answered + 0.1)
        let gap = try #require(item.gaps.first)
        #expect(item.gaps.count == 1 && gap.length > 0.9 && gap.offset > 2, "\(item.gaps)")

        // Served exactly as on the disk.
        let (status, body) = try await serve.ask(
            "GET", "/v1/cameras/door/recordings/\(item.name)", token: ServeProcess.viewer)
        #expect(status == 200 && body.count == item.bytes)
        // A player seeks by ranges.
        let (address, count) = ("/v1/cameras/door/recordings/\(item.name)", item.bytes)
        for (range, status, part, told) in [
            ("bytes=-1000", 206, body.suffix(1000), "content-range: bytes \(count - 1000)-\(count - 1)/\(count)"),
            ("bytes=100-299", 206, body[100..<300], "content-range: bytes 100-299/\(count)"),
            ("bytes=\(count)-", 416, nil, "content-range: bytes */\(count)"),
            ("bytes=0-1,5-6", 200, body, "accept-ranges: bytes"),
        ] {
            let answer = try await serve.ask("GET", address, headers: ["range: \(range)"])
            #expect(answer.status == status && (part == nil || answer.body == part), "\(range) \(answer.status)")
            let head = try await serve.head(of: "GET", address, headers: ["range: \(range)"])
            #expect(head.contains(told), "\(range): \(head)")
            if let part { #expect(head.contains("content-length: \(part.count)"), "\(range): \(head)") }
        }
        let conditional = try await serve.ask("GET", address, headers: ["range: bytes=0-1", "if-range: \"other\""])
        #expect(conditional.status == 200 && conditional.body == body)
        let head = try await serve.head(of: "HEAD", address)
        #expect(head.contains("content-length: \(count)") && head.contains("accept-ranges: bytes"), "\(head)")
        let file = serve.folder.path("door.mp4")
        try body.write(to: URL(fileURLWithPath: file))
        let packets = try await Self.packets(file)
        #expect(packets.first?.isKey == true && packets.first?.time == 0)
        #expect(packets.count { $0.time < asked - start } > 50)
        #expect(abs((packets.last?.time ?? 0) - length) < 0.3)
        #expect(zip(packets, packets.dropFirst()).count { $1.time - $0.time > 0.5 } == 1)
        for path in ["../../cameras.yaml", "%2e%2e%2fcameras.yaml", "a.mp4"] {
            #expect(
                try await serve.ask("GET", "/v1/cameras/door/recordings/" + path, headers: []).status == 404)
        }

        // Killed while it writes: the written part is readable, and is reported as interrupted.
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 60}").status == 202)
        let written = try await serve.camera("door") { _ in true }.captured
        _ = try await serve.camera("door") { $0.captured > written + 40 }
        #expect(await serve.end(SIGKILL) != 0)
        let folders = folder.path("r{c} %d") + "/door"
        let names = try FileManager.default.contentsOfDirectory(atPath: folders).filter { $0.hasSuffix(".mp4") }
        #expect(names.count == 2)
        let killed = try #require(names.max())
        // Three seconds from before and two from then on, of which less than one is lost.
        #expect(try await Self.packets("\(folders)/\(killed)").count > 80)

        try await serve.launch()
        let after = try await ServeProcess.last {
            (try? await Self.list(serve)) ?? []
        } until: {
            $0.count >= 2
        }
        #expect(after.map(\.state) == ["complete", "interrupted"])
        #expect(
            try await serve.ask("DELETE", "/v1/cameras/door/recordings/\(item.name)", token: ServeProcess.viewer).status
                == 403)
        #expect(try await serve.ask("DELETE", "/v1/cameras/door/recordings/\(item.name)").status == 204)
        #expect(try await Self.list(serve).map(\.name) == [killed])
    }

    @Test(
        "A recording that kill -9 cuts off at its beginning is listed if ffprobe plays it, else deleted at the next start"
    )
    func killedEarly() async throws {
        let camera = try Self.camera()
        let folder = try TemporaryFolder()
        let (recordings, segments) = (folder.path("recordings/door"), folder.path("segments"))
        let serve = try await ServeProcess(
            """
            defaults:
              record: {folder: "\(folder.path("recordings"))", before: 100ms}
            cameras:
              door: {source: "\(camera.url)", sinks: ["hls:\(segments)?codec=copy"]}

            """)
        func files() throws -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: recordings)) ?? []).sorted()
        }
        func whole() throws -> [String] { try files().filter { $0.hasSuffix(".mp4") } }
        // A change by the API.
        #expect(
            try await serve.ask("PUT", "/v1/cameras/yard", body: "\"pattern:ball?size=64x64&fps=10\"").status == 201)
        for round in 0..<4 {
            _ = try await serve.camera("door") { $0.captured > 10 }
            let count = try whole().count
            #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 60}").status == 202)
            let begun = try await ServeProcess.last(of: whole) { $0.count > count }
            _ = try await ServeProcess.last {
                FileManager.default.fileExists(atPath: segments + "/index.m3u8")
            } until: {
                $0
            }
            let identifier = serve.process.processIdentifier
            #expect(await serve.end(SIGKILL) != 0)
            let name = try #require(begun.last)
            // Killed before the first picture was written, and while notes, changes and playlists were written.
            if round == 0 { try Data().write(to: URL(fileURLWithPath: "\(recordings)/\(name)")) }
            let parts = ["\(recordings)/\(name).json", serve.configuration + ".changes.json", segments + "/index.m3u8"]
                .map { "\($0).\(identifier)-1.part" }
            for part in parts { try Data("{".utf8).write(to: URL(fileURLWithPath: part)) }
            var playable: [String] = []
            for name in try whole() {
                let packets = try? await Self.packets("\(recordings)/\(name)")
                if packets?.isEmpty == false { playable.append(name) }
            }
            try await serve.launch()
            _ = try await serve.camera("door") { $0.captured > 10 }
            #expect(try await Self.list(serve).map(\.name) == playable)
            #expect(try files() == playable.flatMap { [$0, $0 + ".json"] })
            #expect(parts.allSatisfy { !FileManager.default.fileExists(atPath: $0) }, "\(parts)")
            #expect(playable.contains(name) || serve.complaints.contains("Deleted \(name): "), "\(serve.complaints)")
            #expect(round > 0 || !playable.contains(name))
        }
        #expect(await serve.end() == 0)
    }

    @Test("A camera's packets are streamed as MP4 from a key frame on, with the time of day, and ffmpeg plays them")
    func stream() async throws {
        let camera = try Self.camera()
        let serve = try await ServeProcess(
            "cameras:\n  door: \"\(camera.url)\"\n  drawn: pattern:timecode?size=64x64&fps=5\n", tokens: false)
        _ = try await serve.camera("drawn") { $0.captured > 1 }
        #expect(try await serve.ask("GET", "/v1/cameras/drawn/stream.mp4", token: nil).status == 422)
        #expect(try await serve.ask("GET", "/v1/cameras/none/stream.mp4", token: nil).status == 404)
        _ = try await serve.camera("door") { $0.captured > 1 }
        let address = "\(serve.address)/v1/cameras/door/stream.mp4"
        let sums = try await ReferenceCommand.runAside(
            "ffmpeg", ["-v", "error", "-i", address, "-frames:v", "30", "-f", "framemd5", "-"])
        let pictures = FrameSums.sums(of: sums)
        #expect(pictures.count == 30)
        #expect(Set(pictures).count == 30)
        // A second client, with the packets as they were sent.
        let file = serve.folder.path("stream.mp4")
        try await ReferenceCommand.runAside("bash", ["-c", "curl -sN \(address) | head -c 60000 > \(file)"])
        let packets = try await Self.packets(file)
        #expect(packets.first?.isKey == true && packets.count > 10)
        let script = "ffprobe -v trace \(file) 2>&1 | grep -c \"'prft'\""
        let boxes = try await ReferenceCommand.runAside("bash", ["-c", script])
        #expect(Int(String(decoding: boxes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 > 0)
        // The time in it is the picture's: ISO/IEC 14496-12, 8.16.5, in the format of NTP.
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(data.range(of: Data("prft".utf8))).upperBound + 8
        let seconds = data[place..<place + 4].reduce(into: 0) { $0 = $0 << 8 | Int($1) } - 2_208_988_800
        #expect(abs(Double(seconds) - Date().timeIntervalSince1970) < 30, "\(seconds)")
        #expect(await serve.end() == 0)
    }

    @Test(
        "A full disk ends a recording, is reported, and leaves the written part",
        .enabled("mounting takes root") { canMount })
    func fullDisk() async throws {
        let camera = try Self.camera()
        let folder = try TemporaryFolder()
        let disk = folder.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        _ = try ReferenceCommand.run("mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk])
        defer { _ = try? ReferenceCommand.run("umount", ["-l", disk]) }
        // Room for a few seconds: the header and the packets from before the request fit in any case.
        try Data(count: 700_000).write(to: URL(fileURLWithPath: disk + "/filler"))
        let serve = try await ServeProcess(
            "cameras:\n  door:\n    source: \"\(camera.url)\"\n    record: {folder: \(disk), before: 1s}\n")
        _ = try await serve.camera("door") { $0.captured > 30 }
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 60}").status == 202)
        let list = try await ServeProcess.last {
            try await Self.list(serve)
        } until: {
            $0.first.map { $0.state != "recording" } == true
        }
        let item = try #require(list.first)
        #expect(item.state != "recording")
        #expect(try await Self.packets("\(disk)/door/\(item.name)").count > 15)
        #expect(serve.complaints.contains("disk is full"), "\(serve.complaints)")
        // The camera is not affected.
        let seen = try await serve.camera("door") { _ in true }.captured
        #expect(try await serve.camera("door") { $0.captured > seen + 20 }.openings == 1)
        #expect(await serve.end() == 0)
    }

    private static let canFreeze: Bool = {
        guard canMount, let folder = try? TemporaryFolder() else { return false }
        return (try? frozenDisk(folder)) != nil && (try? ReferenceCommand.run("umount", [folder.path("disk")])) != nil
    }()

    /// Mounts a separate file system, which can be frozen.
    private static func frozenDisk(_ folder: TemporaryFolder) throws -> String {
        let (image, disk) = (folder.path("image"), folder.path("disk"))
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        _ = try ReferenceCommand.run("truncate", ["-s", "64M", image])
        _ = try ReferenceCommand.run("mkfs.ext4", ["-q", image])
        _ = try ReferenceCommand.run("mount", ["-o", "loop", image, disk])
        return disk
    }

    @Test(
        "A disk that hangs is reported, delays nothing but its recording, and recording goes on when it works again",
        .enabled("loop devices and mounting take root") { canFreeze })
    func hungDisk() async throws {
        struct Condition: Decodable {
            var healthy: Bool
            var stalledSinks: [String]
        }
        let camera = try Self.camera()
        let folder = try TemporaryFolder()
        let disk = try Self.frozenDisk(folder)
        defer {
            _ = try? ReferenceCommand.run("fsfreeze", ["-u", disk])
            _ = try? ReferenceCommand.run("umount", ["-l", disk])
        }
        let serve = try await ServeProcess(
            "cameras:\n  door:\n    source: \"\(camera.url)\"\n    record: {folder: \(disk), before: 1s}\n")
        func condition() async throws -> Condition {
            try JSONDecoder().decode(Condition.self, from: await serve.ask("GET", "/v1/cameras/door").body)
        }
        _ = try await serve.camera("door") { $0.captured > 30 }
        #expect(try await serve.ask("POST", "/v1/cameras/door/record", body: "{\"seconds\": 300}").status == 202)
        let name = try #require(
            try await ServeProcess.last {
                try await Self.list(serve)
            } until: {
                !$0.isEmpty
            }.first?.name)
        _ = try ReferenceCommand.run("fsfreeze", ["-f", disk])
        let stalled = try await ServeProcess.last(of: condition) { !$0.healthy }
        #expect(stalled.stalledSinks == [name])
        #expect(serve.complaints.contains("\(name): nothing was accepted for 8 seconds"), "\(serve.complaints)")
        // Changes, metrics and pictures do not need the disk of the recordings.
        #expect(try await serve.ask("PUT", "/v1/cameras/gate", body: "\"pattern:ball\"").status == 201)
        let (status, metrics) = try await serve.ask("GET", "/metrics")
        #expect(status == 200)
        #expect(String(decoding: metrics, as: UTF8.self).contains("inlet_camera_sinks_stalled{camera=\"door\"} 1\n"))
        #expect(try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg").status == 200)
        _ = try ReferenceCommand.run("fsfreeze", ["-u", disk])
        #expect(try await ServeProcess.last(of: condition) { $0.healthy }.stalledSinks.isEmpty)
        let seen = try await serve.camera("door") { _ in true }.captured
        _ = try await serve.camera("door") { $0.captured > seen + 40 }
        let ended = try await serve.ask("DELETE", "/v1/cameras/door/record")
        #expect(ended.status == 200 && String(decoding: ended.body, as: UTF8.self).contains(name))
        #expect(try await Self.packets("\(disk)/door/\(name)").count > 100)
        #expect(await serve.end() == 0)
    }

    private static let canMount: Bool = {
        guard let folder = try? TemporaryFolder(),
            (try? ReferenceCommand.run("mount", ["-t", "tmpfs", "-o", "size=1m", "none", folder.path("")])) != nil
        else { return false }
        return (try? ReferenceCommand.run("umount", [folder.path("")])) != nil
    }()
}
