import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Servers that redirect maliciously, and limits on what is read.
    @Suite struct NetworkSafetyTests {
        /// A playable clip, in HLS's segment format.
        private func transportStream(_ folder: TemporaryFolder) throws -> String {
            let path = folder.path("clip.ts")
            _ = try ReferenceCommand.ffmpeg(["-i", TestClips.path("h264-b.mp4"), "-c", "copy", "-an", path])
            return path
        }

        /// A recording with its index at the end, too far from the beginning to be read through.
        private func recording(_ folder: TemporaryFolder) throws -> String {
            let path = folder.path("long.mp4")
            _ = try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "nullsrc=size=320x240:rate=25:duration=4,geq=random(1)*255:128:128", "-c:v",
                "libx264",
                "-b:v", "4M", "-pix_fmt", "yuv420p", path,
            ])
            return path
        }

        @Test(
            "A playlist cannot read local files, and https leads neither to http nor to an untrusted server",
            arguments: [
                (.playlistFile, .malformedData), (.playlistConcat, .malformedData), (.redirectFile, .malformedData),
                (.playlistPlain, .tlsFailed), (.redirectPlain, .tlsFailed), (.redirectSeek, .tlsFailed),
                (.playlistElsewhere, .tlsFailed),
            ] as [(HostileServer.Kind, InletError.Code)])
        func leaks(_ kind: HostileServer.Kind, _ code: InletError.Code) async throws {
            let folder = try TemporaryFolder()
            var options = HostileServer.Options()
            options.kind = kind
            options.isTLS = true
            options.file = try kind == .redirectSeek ? recording(folder) : transportStream(folder)
            let server = try HostileServer(options)
            let run = try NetworkRun(
                "\(server.url("https", "/index.m3u8"))?tls-ca=\(server.authority ?? "")&connect-timeout=15s&first-timeout=15s",
                frames: 1)
            let error = await #expect(throws: InletError.self) { try await run.play().get() }
            #expect(error?.code == code, "\(error.map { "\($0)" } ?? "nothing")")
            #expect(run.log.readings.isEmpty)
            let report = try server.report()
            // That server received no request.
            #expect(report["elsewhere"]?.int == 0 && report["downgraded"]?.int == 0)
        }

        @Test(
            "The targets of those servers can be watched without the checks, which therefore cause the errors above"
        )
        func protectionIsTheReason() async throws {
            let folder = try TemporaryFolder()
            var options = HostileServer.Options()
            for kind in [HostileServer.Kind.playlistPlain, .redirectPlain, .redirectSeek] {
                options.kind = kind
                options.file = try kind == .redirectSeek ? recording(folder) : transportStream(folder)
                let server = try HostileServer(options)
                let run = try NetworkRun(server.url("http", "/index.m3u8"), frames: 1)
                #expect(try await run.play().get() == .frameLimit, "\(kind)")
                if kind == .redirectSeek { #expect(try server.report()["downgraded"]?.int ?? 0 > 0) }
            }
            options.isTLS = true
            options.kind = .playlistElsewhere
            options.file = try transportStream(folder)
            let server = try HostileServer(options)
            let run = try NetworkRun("\(server.url("https", "/index.m3u8"))?tls-verify=false", frames: 1)
            #expect(try await run.play().get() == .frameLimit)
        }

        @Test(
            "Credentials are sent to another path of the same server, and not to another port",
            arguments: ["rtsp", "http"])
        func credentials(_ scheme: String) async throws {
            let server = try HostileServer(.redirectGuarded)
            let address = server.url(scheme).dropFirst("\(scheme)://".count)
            let run = try NetworkRun("\(scheme)://viewer:secret@\(address)?connect-timeout=10s", frames: 1)
            let error = await #expect(throws: InletError.self) { try await run.play().get() }
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "nothing")")
            let report = try server.report()
            #expect(report["kept"]?.int == 1)
            #expect((report["downgraded"]?.int ?? 0) > 0)
            #expect(report["credentials"]?.int == 0)
        }

        @Test("Segments are requested with the playlist's cookie and the configured user agent")
        func guarded() async throws {
            let folder = try TemporaryFolder()
            var options = HostileServer.Options()
            options.kind = .playlistGuarded
            options.file = try transportStream(folder)
            let server = try HostileServer(options)
            let address = server.url("http", "/index.m3u8")
            let run = try NetworkRun("\(address)?ffmpeg.user_agent=Viewer/7", frames: 10)
            #expect(try await run.play().get() == .frameLimit)
            let stranger = try NetworkRun("\(address)?connect-timeout=3s&first-timeout=3s", frames: 10)
            await #expect(throws: InletError.self) { try await stranger.play().get() }
        }

        @Test("Pictures and rates above the limits are refused")
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
    }
}
