import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Every transport, codec and server, with 300 frames each.
    @Suite struct StreamMatrixTests {
        private static let rows: [(RTSPServer.Codec, String)] = RTSPServer.Codec.allCases.flatMap { codec in
            ["tcp", "udp", "http"].map { (codec, $0) }
        }

        @Test(
            "RTSP delivers every frame that was sent, in order and at its rate",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"), arguments: rows)
        func rtsp(codec: RTSPServer.Codec, transport: String) async throws {
            let folder = try TemporaryFolder()
            var options = RTSPServer.Options()
            options.codec = codec
            options.size = ImageSize(width: 320, height: 240)
            options.frameRate = Rational(60)
            options.sendLog = folder.path("sent")
            let server = try RTSPServer(options)
            let dropped = UDPCounters.dropped
            let run = try NetworkRun("\(server.url)?transport=\(transport)", frames: 300)
            #expect(try await run.play().get() == .frameLimit)
            let readings = run.log.readings
            #expect(readings.count == 300)
            expectWhole(readings)
            let sent = try Set(
                String(contentsOfFile: folder.path("sent"), encoding: .utf8).split(separator: "\n")
                    .compactMap { Int($0.split(separator: " ")[0]) })
            let got = run.log.numbers
            let range = (got.first ?? 0)...(got.last ?? 0)
            let missing = sent.filter { range.contains($0) }.subtracting(got)
            // UDP loses packets on a busy machine; the kernel and the bridge have counted them.
            if transport == "udp" && UDPCounters.dropped > dropped {
                #expect(missing.isEmpty || run.capturer.statistics.drops[.damaged, default: 0] > 0)
            } else {
                #expect(missing == [], "lost \(missing.sorted()), counted \(run.capturer.statistics.drops)")
            }
            // The server's first picture waits for PLAY, so it is later than the others.
            expectRate(of: Array(readings.dropFirst(60)), perSecond: 60)
        }

        @Test(
            "Streams from other senders arrive complete",
            .enabled(if: FFmpegSender.missing == nil, "\(FFmpegSender.missing ?? "")"),
            arguments: FFmpegSender.Carrier.allCases)
        func ffmpeg(carrier: FFmpegSender.Carrier) async throws {
            let server = try FFmpegSender.live(carrier)
            let prefix = [.tcp, .rtp].contains(carrier) ? "ffmpeg:" : ""
            let dropped = UDPCounters.dropped
            let run = try NetworkRun("\(prefix)\(server.url)", frames: 300)
            #expect(try await run.play().get() == .frameLimit)
            let readings = run.log.readings
            #expect(readings.count == 300)
            expectWhole(readings)
            // Frames that wait in the sender until a client connects arrive in a burst, and no frame is from the
            // future: the timeline is right after that. The same holds when a sender catches up. A sender that stays
            // behind looks as if its clock had stopped, and the timeline may follow it.
            let earliest = earliestArrival(of: readings)
            expectRate(
                of: Array(readings.dropFirst(60)), perSecond: 30,
                caughtUp: earliestArrival(of: readings.prefix(61)) - earliest,
                fellBehind: earliestArrival(of: readings.suffix(30)) - earliest)
            let numbers = run.log.numbers
            for (one, next) in zip(readings, readings.dropFirst()) {
                let step = Double((next.number ?? 0) - (one.number ?? 0)) / 30
                #expect(abs(next.presentation - one.presentation - step) < 0.002, "\(one) \(next)")
            }
            let missing = zip(numbers, numbers.dropFirst()).reduce(0) { $0 + $1.1 - $1.0 - 1 }
            // UDP loses packets on a busy machine, as the kernel counts, and SRT drops late ones; the bridge has
            // counted them.
            if carrier == .srt || [.udp, .rtp].contains(carrier) && UDPCounters.dropped > dropped {
                #expect(missing == 0 || run.capturer.statistics.drops[.damaged, default: 0] > 0)
            } else {
                #expect(missing == 0, "\(numbers)")
            }
        }

        @Test(
            "MJPEG over HTTP, which has no times, is timed by its arrival",
            .enabled(if: MJPEGServer.missing == nil, "\(MJPEGServer.missing ?? "")"), arguments: [true, false])
        func mjpeg(saysLength: Bool) async throws {
            var options = MJPEGServer.Options()
            options.saysLength = saysLength
            let server = try MJPEGServer(options)
            let run = try NetworkRun(server.url, frames: 300)
            #expect(try await run.play().get() == .frameLimit)
            let readings = run.log.readings
            expectWhole(readings)
            // The times are arrival times, so they include how far the sender catches up or falls behind.
            let earliest = earliestArrival(of: readings)
            expectRate(
                of: readings, perSecond: 30, caughtUp: earliestArrival(of: readings.prefix(1)) - earliest,
                fellBehind: earliestArrival(of: readings.suffix(1)) - earliest)
        }

        @Test(
            "A file over HTTP and HTTPS is read to its end, as fast as it is consumed",
            .enabled(if: NginxServer.missing == nil, "\(NginxServer.missing ?? "")"), arguments: [false, true])
        func file(isTLS: Bool) async throws {
            let clip = try TestClips.path("h264-b.mp4")
            let server = try isTLS ? NginxServer.https(clip) : NginxServer.http(clip)
            let option = server.authority.map { "?tls-ca=\($0)" } ?? ""
            #expect(try sums(of: "\(server.url)\(option)") == sums(of: clip))
            #expect(try sums(of: "\(server.playlist)\(option)") == sums(of: clip))
        }

        @Test(
            "A transport stream over HTTP without a length arrives complete, and its end is reported",
            .enabled(if: NginxServer.missing == nil, "\(NginxServer.missing ?? "")"))
        func withoutLength() async throws {
            let folder = try TemporaryFolder()
            let clip = try TestClips.path("h264-b.mp4")
            let stream = folder.path("clip.ts")
            _ = try ReferenceCommand.ffmpeg(["-i", clip, "-c", "copy", "-an", stream])
            var options = HostileServer.Options()
            options.kind = .chunked
            options.file = stream
            let server = try HostileServer(options)
            let inlet = try InletProcess.run([
                "run", server.url("http"), "--retry", "never", "--queue", "lossless", "--to",
                "framemd5:\(folder.path("sums"))",
            ])
            #expect(inlet.complaints.contains("ended the stream"), "\(inlet.complaints)")
            let written = try String(contentsOfFile: folder.path("sums"), encoding: .utf8)
            #expect(try FrameSums.sums(of: written) == sums(of: stream))
        }

        @Test(
            "Live HLS is played at its own speed",
            .enabled(if: NginxServer.missing == nil, "\(NginxServer.missing ?? "")"))
        func liveHLS() async throws {
            var options = NginxServer.Options(file: try TestClips.path("h264-b.mp4"))
            options.isLive = true
            let server = try NginxServer(options)
            let run = try NetworkRun(server.playlist, frames: 60)
            #expect(try await run.play().get() == .frameLimit)
            let times = run.log.readings.map(\.timestamp)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        }

        @Test(
            "A recording with B-frames over RTSP delivers its pictures and then ends",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"),
            arguments: ["h264-b.mp4", "hevc.mp4", "h264-nob.mp4"])
        func recording(_ clip: String) throws {
            let path = try TestClips.path(clip)
            let server = try RTSPServer.file(path)
            #expect(try sums(of: server.url) == sums(of: path))
        }

        /// The MD5 sums of the pictures, from ffmpeg for a file and from Inlet for an address.
        private func sums(of input: String) throws -> [String] {
            let text: String
            if input.contains("://") {
                let folder = try TemporaryFolder()
                let inlet = try InletProcess.run([
                    "run", input, "--queue", "lossless", "--to", "framemd5:\(folder.path("sums"))",
                ])
                #expect(inlet.status == 0, "\(inlet.complaints)")
                text = try String(contentsOfFile: folder.path("sums"), encoding: .utf8)
            } else {
                text = String(
                    decoding: try ReferenceCommand.ffmpeg([
                        "-i", input, "-f", "framemd5", "-pix_fmt", "yuv420p", "-vsync", "0", "-an", "-",
                    ]),
                    as: UTF8.self)
            }
            let sums = FrameSums.sums(of: text)
            #expect(!sums.isEmpty)
            return sums
        }

        /// The picture's minimum delay relative to its number, in seconds since an unknown origin.
        private func earliestArrival(of readings: some Sequence<TimecodeSink.Reading>) -> Double {
            readings.compactMap { reading in
                guard let number = reading.number, let received = reading.received else { return nil }
                return Double(received.nanoseconds) / 1e9 - Double(number) / 30
            }.min() ?? .nan
        }

        /// The timeline follows the picture numbers.
        ///
        /// - Parameters:
        ///   - caughtUp: the seconds by which the sender was behind at the first reading and caught up later, by the
        ///     arrivals.
        ///   - fellBehind: the seconds by which the sender was later at the end than at its best, by the arrivals.
        private func expectRate(
            of readings: [TimecodeSink.Reading], perSecond rate: Int, caughtUp: Double = 0, fellBehind: Double = 0
        ) {
            guard let first = readings.first, let last = readings.last, let from = first.number, let to = last.number
            else { return }
            let expected = Double(to - from) / Double(rate) - caughtUp
            let got = Double((last.timestamp - first.timestamp).wholeNanoseconds) / 1e9
            let tolerance = 0.2 + expected * 0.02
            #expect(
                got > expected - tolerance && got < expected + fellBehind + tolerance,
                "\(got) s for \(expected) s, \(caughtUp) s caught up, \(fellBehind) s behind")
        }
    }
}
