import Foundation
import InletCore
import ReferenceTools
import Synchronization
import Testing

/// HTTP Live Streaming of a third-party camera, read by ffmpeg, GStreamer and curl.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct LiveStreamingTests {
    private static func camera() throws -> RTSPServer {
        var options = RTSPServer.Options()
        (options.size, options.frameRate, options.keyFrameInterval) = (
            ImageSize(width: 160, height: 120), Rational(20), 20
        )
        return try RTSPServer(options)
    }

    /// Returns the first playlist that meets a condition.
    private static func playlist(
        _ serve: ServeProcess, token: String? = ServeProcess.viewer, until isReached: (String) -> Bool
    ) async throws -> String {
        let (status, text) = try await ServeProcess.last {
            let (status, body) = try await serve.ask("GET", "/v1/cameras/door/stream.m3u8", token: token)
            return (status, String(decoding: body, as: UTF8.self))
        } until: { status, text in
            status == 200 && isReached(text)
        }
        guard status == 200, isReached(text) else {
            throw ServeProcess.Failure(description: "The playlist did not come so far: \(text)\n\(serve.complaints)")
        }
        return text
    }

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    private static func values(_ tag: String, in playlist: String) -> [String] {
        playlist.split(separator: "\n").filter { $0.hasPrefix(tag) }.map { String($0.dropFirst(tag.count)) }
    }

    private static func time(_ text: String) throws -> Double {
        try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text).timeIntervalSince1970
    }

    @Test(
        "A camera is played by HLS, with tokens in no address, and its segments have the times of its pictures")
    func playing() async throws {
        let camera = try Self.camera()
        let serve = try await ServeProcess(
            "cameras:\n  door: \"\(camera.url)\"\n  drawn: pattern:timecode?size=64x64&fps=5\n")
        _ = try await serve.camera("drawn") { $0.captured > 1 }
        let viewer = ServeProcess.viewer
        for (status, path, token) in [
            (422, "/v1/cameras/drawn/stream.m3u8", viewer), (404, "/v1/cameras/none/stream.m3u8", viewer),
            (401, "/v1/cameras/door/stream.m3u8", nil), (404, "/v1/cameras/door/hls/1.m4s", viewer),
            (404, "/v1/cameras/none/hls/1.m4s", viewer), (401, "/v1/cameras/door/hls/1.m4s", nil),
        ] as [(Int, String, String?)] {
            #expect(try await serve.ask("GET", path, token: token).status == status, "\(path)")
        }
        _ = try await serve.camera("door") { $0.captured > 1 }
        // ffmpeg keeps the cookie, and sends it with the requests for segments.
        let address = "\(serve.address)/v1/cameras/door/stream.m3u8?token=\(viewer)"
        let sums = try await ReferenceCommand.runAside(
            "ffmpeg", ["-v", "error", "-xerror", "-i", address, "-frames:v", "50", "-f", "framemd5", "-"])
        let pictures = FrameSums.sums(of: sums)
        #expect(Set(pictures).count == 50)

        // A camera that stalls, as on a busy machine, makes a discontinuity, which leaves the list again.
        let text = try await Self.playlist(serve) {
            $0.contains("camera's clock") && $0.count(of: "#EXTINF") > 3 && !$0.contains("#EXT-X-DISCONTINUITY\n")
        }
        #expect(!text.contains("token") && !text.contains(viewer))
        let target = try #require(Self.values("#EXT-X-TARGETDURATION:", in: text).first.flatMap { Double($0) })
        let times = try Self.values("#EXT-X-PROGRAM-DATE-TIME:", in: text).map(Self.time)
        let lengths = Self.values("#EXTINF:", in: text).compactMap { Double($0.dropLast()) }
        #expect(target >= 2 && lengths.allSatisfy { $0.rounded() <= target })
        let map = try #require(text.firstMatch(of: /hls\/\d+\.mp4/)).output
        let files = text.split(separator: "\n").filter { $0.hasSuffix(".m4s") }
        #expect(files.count == times.count && lengths.count == times.count)
        // The camera's clock is this machine's.
        #expect(abs((times.last ?? 0) - Date().timeIntervalSince1970) < 30)
        let (_, head) = try await serve.ask("GET", "/v1/cameras/door/\(map)", token: viewer)
        // All requests are made before ffprobe runs: a segment is kept for a while only, and so is the stream without
        // requests.
        var segments: [Data] = []
        for file in files {
            let (status, body) = try await serve.ask("GET", "/v1/cameras/door/\(file)", token: viewer)
            #expect(status == 200)
            segments.append(body)
        }
        var last = -1.0
        for (index, body) in segments.suffix(2).enumerated() {
            let path = serve.folder.path("segment-\(index).mp4")
            try (head + body).write(to: URL(fileURLWithPath: path))
            let output = try await ReferenceCommand.runAside(
                "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", path])
            let packets = String(decoding: output, as: UTF8.self).split(separator: "\n").map {
                $0.split(separator: ",")
            }
            #expect(packets.first?.last?.hasPrefix("K") == true && packets.count >= 15)
            let first = try #require(packets.first?.first.flatMap { Double($0) })
            let end = try #require(packets.last?.first.flatMap { Double($0) })
            let length = lengths[lengths.count - 2 + index]
            // From the first picture to the first of the next one.
            #expect(abs(end - first + 0.05 - length) < 0.05, "\(first) \(end) \(length)")
            if last >= 0 { #expect(abs(last - first) < 0.002, "the next segment continues") }
            last = first + length
        }
        // libavformat's own time of the first picture, in the format of NTP (ISO/IEC 14496-12, 8.16.5).
        for ((file, time), body) in zip(zip(files, times), segments) {
            try #require(body.dropFirst(4).starts(with: Data("prft".utf8)) && body.count > 24, "\(file)")
            let bits = body[16..<24].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let taken = Double(bits >> 32) - 2_208_988_800 + Double(bits & 0xffff_ffff) / 4_294_967_296
            #expect(abs(taken - time) < 0.002, "\(taken) \(time) \(file)\n\(text)")
        }
        // The list advances.
        let sequence = try #require(Self.values("#EXT-X-MEDIA-SEQUENCE:", in: text).first.flatMap { Int($0) })
        _ = try await Self.playlist(serve) {
            Self.values("#EXT-X-MEDIA-SEQUENCE:", in: $0).first.flatMap { Int($0) } ?? 0 > sequence
                && $0.count(of: "#EXTINF") >= 4
        }

        // The camera has another size from its next connection on.
        try camera.change(size: ImageSize(width: 320, height: 240))
        try camera.killConnections()
        let other = try await Self.playlist(serve) { Set(Self.values("#EXT-X-MAP:", in: $0)).count == 2 }
        #expect(other.contains("#EXT-X-DISCONTINUITY\n"))
        #expect(await serve.end() == 0)
        #expect(!serve.complaints.contains("EventLoop"), "\(serve.complaints)")
    }

    @Test("A camera on demand is opened for the first request, played, and closed when requests end")
    func onDemand() async throws {
        let camera = try Self.camera()
        let serve = try await ServeProcess(
            "cameras:\n  door: {source: \"\(camera.url)\", on-demand: 1s}\n", tokens: false)
        let before = try await camera.teardowns()
        let text = try await Self.playlist(serve, token: nil) { !$0.isEmpty }
        #expect(text.contains("#EXTINF"))
        #expect(try camera.report()["clients"]?.int ?? 0 > 0)
        // GStreamer reads the times of day, and shows pictures.
        let address = "\(serve.address)/v1/cameras/door/stream.m3u8"
        let player = Task {
            try await ReferenceCommand.runAside(
                "bash",
                [
                    "-c",
                    """
                    GST_DEBUG=hlsng:5 GST_DEBUG_NO_COLOR=1 timeout 60 gst-launch-1.0 -q playbin3 \
                        uri="$1" video-sink="fakesink num-buffers=10" 2>&1; echo "status $?"
                    """, "gst", address,
                ])
        }
        let isPlayed = Flag()
        let end = Task {
            _ = await player.result
            isPlayed.isSet.withLock { $0 = true }
        }
        // GStreamer may need longer to begin than a segment is listed: its date is one of those listed meanwhile.
        var dates = Set(Self.values("#EXT-X-PROGRAM-DATE-TIME:", in: text))
        while !isPlayed.isSet.withLock({ $0 }) {
            let (status, body) = try await serve.ask("GET", "/v1/cameras/door/stream.m3u8", token: nil)
            #expect(status == 200)
            dates.formUnion(Self.values("#EXT-X-PROGRAM-DATE-TIME:", in: String(decoding: body, as: UTF8.self)))
            try await Task.sleep(for: .milliseconds(500))
        }
        await end.value
        let log = try await player.value
        let lines = String(decoding: log, as: UTF8.self)
        #expect(lines.hasSuffix("status 0\n"), "\(lines.suffix(2000))")
        #expect(
            dates.contains { lines.contains("date/time    : \($0.dropLast())") }, "\(dates) \(lines.suffix(4000))")
        // A player that returns later finds unknown numbers.
        let number = try #require(Self.values("#EXT-X-MEDIA-SEQUENCE:", in: text).first.flatMap { Int($0) })
        try await Waiting.until("the camera's end", progress: { try camera.report()["frames"]?.int }) {
            try camera.report()["requests"]?["teardown"]?.int ?? 0 > before
        }
        #expect(try await serve.ask("GET", "/v1/cameras/door/hls/\(number).m4s", token: nil).status == 404)
        let again = try await Self.playlist(serve, token: nil) { !$0.isEmpty }
        #expect(Self.values("#EXT-X-MEDIA-SEQUENCE:", in: again).first.flatMap { Int($0) } ?? 0 > number)
        #expect(await serve.end() == 0)
    }
}

extension String {
    fileprivate func count(of text: String) -> Int { components(separatedBy: text).count - 1 }
}
