import FFmpegDecoder
import Foundation
import InletCore
import RTSPSource
import ReferenceTools
import Synchronization
import Testing

@testable import InletTesting

extension RTSPSourceTests {
    /// Captures of sessions, and playing them.
    @Suite struct CaptureTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The bytes of a capture, as they are written.
        private final class Written: Sendable {
            private let content = Mutex<[UInt8]>([])
            /// The number of bytes after which writing fails.
            private let limit: Int

            init(limit: Int = .max) { self.limit = limit }

            var bytes: [UInt8] { content.withLock { $0 } }
            var output: CaptureOutput {
                CaptureOutput { [self] bytes in
                    content.withLock { content in
                        guard content.count + bytes.count <= limit else {
                            return InletError(.resourceExhausted, "The disk is full.")
                        }
                        content += bytes
                        return nil
                    }
                }
            }
        }

        /// The contents of an access unit, except its arrival time.
        private struct Unit: Equatable {
            var data: [UInt8]
            var ticks: Int64?
            var flags: PacketFlags

            init(_ packet: SourcePacket) {
                data = unsafe Array(packet.data.storage.memory)
                ticks = packet.pts?.ticks
                flags = packet.flags
            }
        }

        private func file(_ bytes: [UInt8]) throws -> String {
            let path = folder.path("\(UUID().uuidString).rtspcap")
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return path
        }

        private func replay(_ bytes: [UInt8], decodes: Bool = true, pace: RTSPCaptureConfiguration.Pace = .none) throws
            -> SourceRun
        {
            var configuration = RTSPCaptureConfiguration(path: try file(bytes))
            configuration.decoders = [.ffmpeg]
            configuration.pace = pace
            return SourceRun(configuration, decodes: decodes)
        }

        private func units(_ run: SourceRun, _ count: Int = .max) async throws -> [Unit] {
            var units: [Unit] = []
            _ = try await run.open()
            while units.count < count, let packet = try await run.next()?.packet { units.append(Unit(packet)) }
            try await run.close()
            return units
        }

        private func outcome(_ run: SourceRun, _ count: Int) async throws -> (units: [Unit], error: InletError.Code?) {
            var units: [Unit] = []
            var failure: InletError.Code?
            do {
                _ = try await run.open()
                while units.count < count, let packet = try await run.next()?.packet { units.append(Unit(packet)) }
            } catch let error as InletError {
                failure = error.code
            }
            try await run.close()
            return (units, failure)
        }

        private static func holds(_ bytes: [UInt8], _ text: String) -> Bool {
            Data(bytes).range(of: Data(text.utf8)) != nil
        }

        /// A file for gst-rtsp-server, and ffmpeg's decoding of it.
        private func clip() throws -> (path: String, sums: [String]) {
            let path = folder.path("clip.mp4")
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "50", "-pix_fmt", "yuv420p", "-c:v",
                "libx264", "-g", "10", "-bf", "0", "-b:v", "2M", path,
            ])
            let sums = try FrameLines.ffmpeg(path).lines.map(\.md5)
            try #require(sums.count == 50 && Set(sums).count == 50)
            return (path, sums)
        }

        @Test(
            "A capture gives the pictures of the session, which are those of the file, and holds no secret",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"),
            arguments: [
                (.tcp, .none, false), (.tcp, .basic, false), (.tcp, .digest, true), (.udp, .none, false),
                (.udp, .digest, false),
            ] as [(RTSPConfiguration.Transport, RTSPServer.Authentication, Bool)])
        func pictures(
            _ transport: RTSPConfiguration.Transport, _ authentication: RTSPServer.Authentication, _ isTLS: Bool
        ) async throws {
            let clip = try clip()
            var options = RTSPServer.Options()
            options.file = clip.path
            options.authentication = authentication
            options.isTLS = isTLS
            (options.user, options.password) = ("watchman", "s3cr3t-w0rd")
            let server = try RTSPServer(options)
            let written = Written()
            let live = SourceRun(
                .test(server.url) {
                    $0.transport = transport
                    $0.verifiesCertificate = false
                    $0.capture = written.output
                    if authentication != .none { ($0.user, $0.password) = ("watchman", "s3cr3t-w0rd") }
                })
            let seen = try await live.pictures(clip.sums.count)
            #expect(seen == clip.sums)
            let capture = written.bytes
            for _ in 0..<2 { #expect(try await replay(capture).pictures(nil) == seen) }
            let basic = Data("watchman:s3cr3t-w0rd".utf8).base64EncodedString()
            for secret in ["watchman", "s3cr3t", "w0rd", basic, String(basic.dropFirst(3).dropLast(3))] {
                #expect(!Self.holds(capture, secret), "\(secret)")
            }
            for open in ["rtspcap/1 ", "DESCRIBE rtsp", "Transport: ", "Session: ", "TEARDOWN "] {
                #expect(Self.holds(capture, open))
            }
            if authentication != .none { #expect(Self.holds(capture, "Authorization: ")) }
        }

        @Test(
            "A capture of an authenticated session has no nonce, response or session number, and plays all the same",
            arguments: [RTSPScript.Authentication.basic, .md5, .sha256, .several])
        func secrets(_ kind: RTSPScript.Authentication) async throws {
            var options = try ScriptClip.of(.small).options
            options.authentication = kind
            (options.user, options.password) = ("watchman", "s3cr3t-w0rd")
            let server = try RTSPScript(options)
            let written = Written()
            let live = SourceRun(
                .test(server.url) {
                    $0.capture = written.output
                    ($0.user, $0.password) = ("watchman", "s3cr3t-w0rd")
                }, decodes: false)
            let seen = try await units(live, 20)
            let capture = written.bytes
            var secrets: Set<String> = ["watchman", "s3cr3t"]
            for request in server.requests {
                for part in (request.headers["authorization"] ?? "").split(separator: "\"") where part.count >= 8 {
                    if !part.contains("="), !part.hasPrefix("rtsp:") { secrets.insert(String(part)) }
                }
                if let basic = request.headers["authorization"]?.split(separator: " ").last, kind == .basic {
                    secrets.insert(String(basic))
                }
                if let session = request.headers["session"] { secrets.insert(session) }
            }
            #expect(secrets.count >= (kind == .basic ? 4 : 6), "\(secrets)")
            for secret in secrets { #expect(!Self.holds(capture, secret), "\(secret)") }
            let played = try await units(replay(capture, decodes: false))
            #expect(played.prefix(20) == seen[...])
        }

        @Test(
            "A session's capture is played bit for bit, however often and at whatever pace",
            arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func units(_ transport: RTSPConfiguration.Transport) async throws {
            let clip = try ScriptClip.of(.slices)
            let server = try RTSPScript(clip.options)
            let written = Written()
            let live = SourceRun(
                .test(server.url) {
                    $0.transport = transport
                    $0.capture = written.output
                }, decodes: false)
            let seen = try await units(live, clip.sums.count)
            #expect(seen.count == clip.sums.count)
            for pace in [RTSPCaptureConfiguration.Pace.none, .none, .realtime] {
                #expect(try await units(replay(written.bytes, decodes: false, pace: pace)) == seen)
            }
        }

        @Test(
            "The capture of an unusual server is played bit for bit",
            arguments: RTSPScript.Mutation.allCases, [RTSPConfiguration.Transport.tcp, .udp])
        func mutations(_ mutation: RTSPScript.Mutation, _ transport: RTSPConfiguration.Transport) async throws {
            var options = try ScriptClip.of(.slices).options
            options.mutations = [mutation]
            options.frameRate = 100
            let server = try RTSPScript(options)
            let written = Written()
            let live = SourceRun(
                .test(server.url) {
                    $0.transport = transport
                    $0.capture = written.output
                    $0.readTimeout = .milliseconds(700)
                }, decodes: false)
            // A server that loses packets gives fewer, and the session then ends with a time-out.
            let seen = try await outcome(live, 30)
            #expect(seen.units.count > 5)
            let played = try await outcome(replay(written.bytes, decodes: false), 30)
            #expect(played.error == seen.error)
            #expect(played.units == seen.units)
        }

        @Test("A pause loses nothing of a capture", arguments: [RTSPCaptureConfiguration.Pace.none, .realtime])
        func pause(_ pace: RTSPCaptureConfiguration.Pace) async throws {
            let capture = try await Self.capture.value
            let whole = try await units(replay(capture, decodes: false))
            let run = try replay(capture, decodes: false, pace: pace)
            var seen: [Unit] = []
            _ = try await run.open()
            while let packet = try await run.next()?.packet {
                seen.append(Unit(packet))
                guard seen.count % 4 == 1 else { continue }
                #expect(try await run.pause())
                try await Task.sleep(for: .milliseconds(20))
                try await run.resume()
            }
            try await run.close()
            #expect(seen == whole && seen.count >= 10)
        }

        // Runs by itself, because a delayed reader gets all of a short session in one read, which is one record.
        @Test("A capture that ends anywhere gives the units before the end", .alone)
        func torn() async throws {
            let clip = try ScriptClip.of(.small)
            let server = try RTSPScript(clip.options)
            let written = Written()
            let live = SourceRun(.test(server.url) { $0.capture = written.output }, decodes: false)
            let seen = try await units(live, clip.sums.count)
            let capture = written.bytes
            var counts: Set<Int> = []
            for share in stride(from: 0.5, to: 1, by: 0.061) {
                let cut = Array(capture.prefix(Int(Double(capture.count) * share)))
                let played = try await units(replay(cut, decodes: false))
                #expect(played == Array(seen.prefix(played.count)))
                counts.insert(played.count)
            }
            #expect(counts.count > 3)
        }

        @Test("A refused password fails in the capture as it did in the session")
        func wrongPassword() async throws {
            var options = try ScriptClip.of(.small).options
            options.authentication = .several
            (options.user, options.password) = ("watchman", "s3cr3t-w0rd")
            let server = try RTSPScript(options)
            for user in ["watchman", nil] {
                let written = Written()
                let live = SourceRun(
                    .test(server.url) {
                        $0.capture = written.output
                        ($0.user, $0.password) = (user, user.map { _ in "wrong" })
                    })
                #expect(try await live.failure()?.code == .authenticationFailed)
                #expect(try await replay(written.bytes).failure()?.code == .authenticationFailed)
            }
        }

        @Test("A capture that cannot be written ends the session with the error")
        func diskFull() async throws {
            let server = try RTSPScript(ScriptClip.of(.small).options)
            let written = Written(limit: 4000)
            let live = SourceRun(.test(server.url) { $0.capture = written.output }, decodes: false)
            #expect(try await live.failure()?.code == .resourceExhausted)
        }

        @Test(
            "A file that is not a capture is refused",
            arguments: [
                ("", .malformedData), ("RTSP/1.0", .malformedData), ("rtspcap/1\n", .malformedData),
                ("rtspcap/9\n", .unsupported), ("rtspcap/1 url=rtsp://a/\n", .streamEnded),
                ("rtspcap/1 url=x:y\n", .invalidConfiguration),
            ] as [(String, InletError.Code)])
        func refusals(_ text: String, _ code: InletError.Code) async throws {
            let error = try await replay(Array(text.utf8)).failure()
            #expect(error?.code == code, "\(error.map { "\($0)" } ?? "no error")")
        }

        @Test("A capture with changed bytes ends, with units or an error", arguments: 0..<60)
        func mutation(_ seed: Int) async throws {
            let capture = try await Self.capture.value
            var random = SplitMix64(seed: UInt64(seed))
            var bytes = capture
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let index = Int.random(in: (seed.isMultiple(of: 2) ? 0 : bytes.count / 8)..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
                }
            }
            let run = try replay(bytes, decodes: false)
            do {
                let played = try await units(run)
                #expect(played.reduce(0) { $0 + $1.data.count } <= 2 * bytes.count)
            } catch is InletError {
                try await run.close()
            }
        }

        /// The capture of a short session.
        private static let capture = Task {
            let server = try RTSPScript(ScriptClip.of(.small).options)
            let written = Written()
            let live = SourceRun(.test(server.url) { $0.capture = written.output }, decodes: false)
            _ = try await live.open()
            for _ in 0..<10 { _ = try await live.next() }
            try await live.close()
            return written.bytes
        }
    }
}
