import Foundation
import Inlet
import Logging
import ReferenceTools
import Testing

extension NetworkTests {
    /// Live streams whose times step back, or that have no times.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct NetworkTimelineTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The way in which a stream's time steps back.
        enum Step: String, CaseIterable {
            /// The encoder is restarted behind a relay.
            case restart
            /// The 33-bit counter wraps between two key frames, as after 26.5 hours.
            case wrap
        }

        private static let frames = 120

        /// An H.264 transport stream in which every twelfth picture is a key frame.
        private func stream(_ name: String, frames: Int, from start: Double, bFrames: Int) throws -> [UInt8] {
            let path = folder.path(name)
            _ = try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "\(frames)", "-c:v", "libx264",
                "-preset", "ultrafast", "-bf", "\(bFrames)", "-g", "12", "-sc_threshold", "0", "-muxdelay", "0",
                "-output_ts_offset", "\(start)", "-f", "mpegts", path,
            ])
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }

        /// Continues the continuity counter of each identifier (ISO 13818-1, 2.4.3.3), so that nothing is missing at
        /// the seam.
        private func renumber(_ bytes: inout [UInt8]) {
            var counts: [UInt16: UInt8] = [:]
            for start in stride(from: 0, to: bytes.count - 187, by: 188) {
                let identifier = UInt16(bytes[start + 1] & 0x1f) << 8 | UInt16(bytes[start + 2])
                let hasPayload = bytes[start + 3] & 0x10 != 0
                let count = (counts[identifier] ?? 15) &+ (hasPayload ? 1 : 0)
                counts[identifier] = count & 15
                bytes[start + 3] = bytes[start + 3] & 0xf0 | count & 15
            }
        }

        private func bytes(_ step: Step, bFrames: Int) throws -> [UInt8] {
            switch step {
            case .restart:
                var bytes = try stream("before.ts", frames: Self.frames / 2, from: 5000, bFrames: bFrames)
                bytes += try stream("after.ts", frames: Self.frames / 2, from: 10, bFrames: bFrames)
                renumber(&bytes)
                return bytes
            case .wrap:
                // 2^33 ticks of 90 kHz are 95443.7 s.
                return try stream("wrap.ts", frames: Self.frames, from: 95_443.7 - 2.1, bFrames: bFrames)
            }
        }

        @Test(
            "A step back in time loses no picture and no packet of a live stream", arguments: Step.allCases, [0, 2])
        func stepBack(_ step: Step, bFrames: Int) async throws {
            let path = folder.path("live.ts")
            try Data(try bytes(step, bFrames: bFrames)).write(to: URL(fileURLWithPath: path))
            var options = HostileServer.Options()
            options.kind = .chunked
            options.file = path
            let server = try HostileServer(options)
            var configuration = CapturerConfiguration()
            configuration.retry = .never
            configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            // libavformat unwraps a connection's first wrap. The stream must be the same after the second.
            let url = server.url("http", "/live.ts") + "?ffmpeg.correct_ts_overflow=0"
            let capturer = Capturer(try PluginRegistry.standard.source(url), configuration: configuration)
            let pictures = capturer.attach(try PluginRegistry.standard.sink("null:"), queue: .lossless())
            let copy = folder.path("copy.mkv")
            capturer.attach(try PluginRegistry.standard.sink("mkv:\(copy)?codec=copy"))
            let error = await #expect(throws: InletError.self) { try await capturer.run() }
            #expect(error?.code == .streamEnded, "\(error.map { "\($0)" } ?? "")")
            let statistics = capturer.statistics
            #expect(statistics.drops.isEmpty, "\(statistics.drops)")
            #expect(statistics.captured == UInt64(Self.frames))
            #expect(statistics.sinks.first { $0.id == pictures }?.delivered == UInt64(Self.frames))
            let count = try await ReferenceCommand.runAside(
                "ffprobe",
                [
                    "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of",
                    "default=nk=1:nw=1", copy,
                ])
            #expect(String(decoding: count, as: UTF8.self) == "\(Self.frames)\n")
        }

        private func presentationTimes(of path: String) async throws -> [Double] {
            let listing = try await ReferenceCommand.runAside(
                "ffprobe",
                ["-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path])
            return String(decoding: listing, as: UTF8.self).split { !"0123456789.".contains($0) }.compactMap {
                Double($0)
            }
        }

        @Test("Motion JPEG over HTTP, which has no times, is recorded at its arrival times", arguments: ["mkv", "mp4"])
        func untimed(_ container: String) async throws {
            let server = try MJPEGServer()
            let path = folder.path("out.\(container)")
            let inlet = try InletProcess.run([
                "run", server.url, "--to", "\(container):\(path)?codec=copy", "--frames", "60", "--report", "json",
            ])
            #expect(inlet.status == 0, "\(inlet.complaints)")
            #expect(try Report(inlet).frames.delivered == 60)
            let times = try await presentationTimes(of: path)
            #expect(times.count == 60)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
            // The camera sends 30 pictures a second, however they bunch on the way.
            let length = try #require(times.last) - (times.first ?? 0)
            #expect((1.5...10).contains(length), "\(length)")
            let decoded = try await ReferenceCommand.runAside(
                "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-fps_mode", "passthrough", "-f", "framemd5", "-"])
            #expect(FrameSums.sums(of: decoded).count == 60)
        }
    }
}
