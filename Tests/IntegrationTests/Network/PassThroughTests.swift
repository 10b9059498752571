import Foundation
import Inlet
import InletTesting
import Logging
import ReferenceTools
import Testing

extension NetworkTests {
    /// Recordings of a camera's own packets, as ffmpeg reads them.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct PassThroughTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        struct Stream: Sendable, CustomTestStringConvertible {
            var codec: RTSPServer.Codec
            var bFrames = 0
            var container: String
            var transport = "tcp"
            var testDescription: String { "\(codec.rawValue), \(bFrames) B-frames, by \(transport) into \(container)" }
        }

        static let streams = [
            Stream(codec: .h264, container: "mp4"), Stream(codec: .h264, container: "ts"),
            Stream(codec: .h264, container: "mp4", transport: "udp"),
            Stream(codec: .h264, bFrames: 2, container: "mp4"), Stream(codec: .h264, bFrames: 2, container: "mkv"),
            Stream(codec: .h265, container: "mp4"), Stream(codec: .h265, container: "mkv"),
            Stream(codec: .mjpeg, container: "mkv"),
        ]

        /// The values that ffmpeg reads from a recording: the number in each picture, and its time in seconds.
        private func read(_ path: String, _ size: ImageSize) async throws -> [(number: Int, time: Double)] {
            let raw = try await ReferenceCommand.runAside(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f",
                    "rawvideo", "-",
                ])
            let listing = try await ReferenceCommand.runAside(
                "ffprobe",
                ["-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time", "-of", "csv=p=0", path])
            let times = String(decoding: listing, as: UTF8.self).split { !"0123456789.".contains($0) }.map {
                Double($0)
            }
            let pictures = ReferencePictures(raw, size: size)
            try #require(times.count == pictures.count, "\(times.count) times, \(pictures.count) pictures")
            return try (0..<pictures.count).map { index in
                let code = try #require(try TimecodeReader.read(pictures.packed(index)), "picture \(index)")
                return (Int(code.frame), try #require(times[index]))
            }
        }

        /// All pictures that were sent, from the first to the last, at their times.
        private func expectWhole(
            _ recorded: [(number: Int, time: Double)], of sent: Set<Int>, without lost: Int, rate: Double
        ) throws {
            let numbers = recorded.map(\.number)
            let (first, last) = (try #require(numbers.min()), try #require(numbers.max()))
            let missing = sent.filter { first <= $0 && $0 <= last }.subtracting(numbers)
            #expect(missing.count <= lost, "\(missing.sorted()) of \(numbers)")
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(numbers)")
            #expect(zip(recorded, recorded.dropFirst()).allSatisfy { $0.time < $1.time }, "\(recorded.map(\.time))")
            // The clock measures the stream's smallest delay, later on a busy machine. Until then pictures are late,
            // and ever less so; afterwards each has its time.
            let anchor = try #require(recorded.last)
            let lateness = recorded.dropFirst(60).map { $0.time - anchor.time - Double($0.number - last) / rate }
            #expect(anchor.number == last)
            #expect(lateness.allSatisfy { -0.5 / rate < $0 && $0 < 0.5 }, "\(lateness)")
            #expect(zip(lateness, lateness.dropFirst()).allSatisfy { $1 < $0 + 0.5 / rate }, "\(lateness)")
            #expect(lateness.suffix(20).allSatisfy { $0 < 0.5 / rate }, "\(lateness)")
        }

        /// Each picture of a transport stream begins with a delimiter (ISO 13818-1, 2.14.1), and has exactly one.
        private func expectDelimited(_ path: String) async throws {
            let raw = try await ReferenceCommand.runAside(
                "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-c", "copy", "-f", "h264", "-"])
            let bytes = [UInt8](raw)
            var types: [UInt8] = []
            for index in 0..<max(0, bytes.count - 3) where bytes[index + 2] == 1 {
                if bytes[index] == 0, bytes[index + 1] == 0 { types.append(bytes[index + 3] & 0x1f) }
            }
            #expect(types.first == 9)
            for units in types.split(separator: 9, omittingEmptySubsequences: false).dropFirst() {
                #expect(units.contains(1) || units.contains(5), "\(types.prefix(40))")
            }
        }

        private func camera(_ stream: Stream) throws -> RTSPServer {
            var options = RTSPServer.Options()
            options.codec = stream.codec
            options.bFrames = stream.bFrames
            options.size = ImageSize(width: 320, height: 240)
            options.frameRate = Rational(25)
            options.keyFrameInterval = 12
            options.sendLog = folder.path("sent")
            return try RTSPServer(options)
        }

        @Test("A copy next to a decoding sink has every picture at its time", arguments: streams)
        func beside(_ stream: Stream) async throws {
            let server = try camera(stream)
            let path = folder.path("out.\(stream.container)")
            let dropped = UDPCounters.dropped
            let run = try NetworkRun("\(server.url)?transport=\(stream.transport)")
            let copy = run.capturer.attach(
                try PluginRegistry.standard.sink("\(stream.container):\(path)?codec=copy"), onFailure: .detach)
            let outcome = try await run.play { try await $0.frames(beyond: 120) }
            #expect(throws: Never.self) { try outcome.get() }
            let figures = try #require(run.capturer.statistics.sinks.first { $0.id == copy })
            #expect(figures.drops.isEmpty && figures.delivered > 110, "\(figures)")
            let recorded = try await read(path, ImageSize(width: 320, height: 240))
            #expect(recorded.count > 105)
            // The Python camera skips pictures when it is late, and UDP loses packets on a busy machine; the kernel and
            // the bridge have counted them.
            let sent = try String(contentsOfFile: folder.path("sent"), encoding: .utf8)
            let mayLose = stream.transport == "udp" && UDPCounters.dropped > dropped
            let lost = mayLose ? run.capturer.statistics.drops[.damaged, default: 0] : 0
            try expectWhole(
                recorded, of: Set(sent.split(separator: "\n").compactMap { Int($0.prefix { $0 != " " }) }),
                without: Int(lost), rate: 25)
            if stream.container == "ts" { try await expectDelimited(path) }
            // The pictures decoded at the same time, except the last ones, which may not have been handed over.
            let missing = Set(run.log.numbers.dropLast(4)).subtracting(recorded.map(\.number))
            #expect(missing.isEmpty, "\(missing.sorted())")
        }

        @Test("A copy without decoding sinks is not decoded, and continues in a new file when the camera is back")
        func alone() async throws {
            let stream = Stream(codec: .h264, bFrames: 2, container: "mp4")
            let server = try camera(stream)
            var configuration = CapturerConfiguration()
            configuration.retry = NetworkRun.quickRetry
            configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let capturer = Capturer(try PluginRegistry.standard.source(server.url), configuration: configuration)
            capturer.attach(
                try PluginRegistry.standard.sink("mp4:\(folder.path("a-{n}.mp4"))?codec=copy"), onFailure: .detach)
            let running = Task { try await capturer.run() }
            func progress() -> [UInt64] {
                [capturer.statistics.sinks[0].delivered, UInt64(capturer.statistics.supervision.openings)]
            }
            do {
                for round in 1...2 {
                    let before = capturer.statistics.sinks[0].delivered
                    try await Waiting.until("pictures of round \(round)", progress: progress) {
                        capturer.statistics.sinks[0].delivered > before + 40
                    }
                    if round == 1 {
                        try server.process.send("kill")
                        try await Waiting.until("the camera is back", progress: progress) {
                            capturer.statistics.supervision.openings > 1
                        }
                    }
                }
            } catch {
                capturer.stop()
                _ = try? await running.value
                throw error
            }
            capturer.stop()
            _ = try await running.value
            #expect(capturer.statistics.converted == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("")).filter { $0 != "sent" }
                .sorted()
            #expect(!names.isEmpty)
            var pictures = 0
            for name in names {
                let recorded = try await read(folder.path(name), ImageSize(width: 320, height: 240))
                let numbers = recorded.map(\.number)
                #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 > $0 }, "\(name): \(numbers)")
                pictures += recorded.count
            }
            #expect(pictures > 75, "\(names)")
        }
    }
}
