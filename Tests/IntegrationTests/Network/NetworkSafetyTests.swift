import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Servers that mean harm, or are broken.
    @Suite struct NetworkSafetyTests {
        @Test(
            "A hostile server ends in an error, and takes no memory", arguments: HostileServer.Kind.allCases,
            ["rtsp", "http"])
        func hostile(_ kind: HostileServer.Kind, _ scheme: String) async throws {
            var options = HostileServer.Options()
            options.kind = kind
            options.file = try TestClips.path("h264-b.mp4")
            let server = try HostileServer(options)
            let before = Self.memory
            let run = try NetworkRun(
                "\(server.url(scheme))?connect-timeout=1s&first-timeout=1s&read-timeout=1s", frames: 10_000)
            let outcome = try await run.play()
            if kind != .fileThenGarbage || scheme == "rtsp" {
                #expect(throws: InletError.self, "\(kind)") { try outcome.get() }
            }
            // 100 MB are what some of them would like to have kept.
            #expect(Self.memory - before < 64 << 20, "\((Self.memory - before) >> 20) MB")
        }

        @Test(
            "A playlist cannot read files of this machine, and https does not lead to http",
            arguments: [
                HostileServer.Kind.playlistFile, .playlistConcat, .playlistPlain, .redirectFile, .redirectPlain,
            ])
        func leaks(_ kind: HostileServer.Kind) async throws {
            var options = HostileServer.Options()
            options.kind = kind
            options.isTLS = true
            options.file = try TestClips.path("h264-b.mp4")
            let server = try HostileServer(options)
            let run = try NetworkRun(
                "\(server.url("https", "/index.m3u8"))?tls-ca=\(server.authority ?? "")&connect-timeout=3s&first-timeout=1s",
                frames: 1)
            await #expect(throws: InletError.self) { try await run.play().get() }
            #expect(run.log.readings.isEmpty)
            // Nobody came to the plain server, except where a redirect was followed before it could be seen.
            if kind == .playlistPlain { #expect(try server.report()["downgraded"]?.int == 0) }
        }

        @Test("Pictures and rates beyond the limits are refused")
        func limits() async throws {
            var options = RTSPServer.Options()
            options.frameRate = Rational(60)
            let server = try RTSPServer(options)
            let large = try NetworkRun("\(server.url)?max-size=320x240", frames: 1)
            let error = await #expect(throws: InletError.self) { try await large.play().get() }
            #expect(error?.code == .unsupported && error?.message.contains("max-size") == true)
            let fast = try NetworkRun("\(server.url)?max-fps=30", frames: 2000)
            let rate = await #expect(throws: InletError.self) { try await fast.play().get() }
            #expect(rate?.code == .unsupported && rate?.message.contains("max-fps") == true)
        }

        /// Of this process, in bytes.
        private static var memory: Int {
            let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
        }
    }
}
