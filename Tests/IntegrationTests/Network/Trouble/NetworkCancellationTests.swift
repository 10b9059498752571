import Foundation
import Inlet
import InletTesting
import Logging
import ReferenceTools
import Testing

extension NetworkTests {
    /// Cancellation of a run in every phase.
    @Suite struct NetworkCancellationTests {
        @Test(
            "A cancellation ends every phase, and is reported as such",
            arguments: [.blackHole, .slowLoris, .endlessHeader, .redirectEndless, .vastLength]
                as [HostileServer.Kind], ["rtsp", "http", "rtmp"])
        func phases(_ kind: HostileServer.Kind, _ scheme: String) async throws {
            let server = try HostileServer(kind)
            let run = try NetworkRun(
                "\(server.url(scheme))?connect-timeout=300s&first-timeout=300s&read-timeout=300s",
                retry: NetworkRun.quickRetry)
            let outcome = try await run.play { run in
                try await run.until("an opening") { $0.capturer.statistics.supervision.openings > 0 }
                try await Task.sleep(for: .milliseconds(200))
            }
            // A short redirect loop may end before the run is stopped, and a response that is too long is refused.
            let isRefused = scheme == "rtsp" && [.endlessHeader, .vastLength].contains(kind)
            if kind == .redirectEndless || isRefused, case .failure(let error) = outcome {
                #expect(error.code == .malformedData)
            } else {
                #expect(try outcome.get() == .cancelled)
            }
            #expect(run.capturer.statistics.supervision.abandonments == 0)
        }

        @Test("A cancellation ends a connection attempt that is not answered", arguments: ["rtsp", "http"])
        func connecting(_ scheme: String) async throws {
            let server = try ReferenceSocket.thatTakesNoConnections()
            let run = try NetworkRun("\(scheme)://127.0.0.1:\(server.port)/x?connect-timeout=300s")
            let outcome = try await run.play { run in
                try await run.until("an opening") { $0.capturer.statistics.supervision.openings > 0 }
                try await Task.sleep(for: .milliseconds(200))
            }
            #expect(try outcome.get() == .cancelled)
            #expect(run.capturer.statistics.supervision.abandonments == 0)
            let late = try NetworkRun(
                "\(scheme)://127.0.0.1:\(server.port)/x?connect-timeout=300ms", frames: 1)
            let error = await #expect(throws: InletError.self) { try await late.play().get() }
            #expect(error?.code == .timedOut && error?.message.contains("connect-timeout") == true)
        }

        @Test(
            "A stopped run ends its session at the server",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"), arguments: ["tcp", "udp"])
        func teardown(transport: String) async throws {
            let server = try RTSPServer.live()
            let run = try NetworkRun("\(server.url)?transport=\(transport)")
            #expect(try await run.play { try await $0.frames(beyond: 5) }.get() == .cancelled)
            // The run does not wait for the server, so the server may still be reading the request.
            try await run.until("a TEARDOWN") { _ in
                (try? server.report())?["requests"]?["teardown"]?.int == 1
            }
        }

        @Test(
            "A live stream keeps the contract of sources",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
        func conformance() async throws {
            let server = try RTSPServer.live()
            let source = try PluginRegistry.standard.source(server.url)
            let broken = await SourceConformance.check(source)
            #expect(broken == [], "\(broken)")
        }

        @Test(
            "A name service that hangs delays neither a deadline nor a cancellation", arguments: ["rtsp", "http"])
        func names(_ scheme: String) throws {
            let folder = try TemporaryFolder()
            let code = """
                #include <fcntl.h>
                #include <netdb.h>
                #include <unistd.h>
                int getaddrinfo(const char *n, const char *s, const struct addrinfo *h, struct addrinfo **r) {
                    creat("\(folder.path("asked"))", 0600);
                    sleep(20);
                    creat("\(folder.path("answered"))", 0600);
                    return EAI_AGAIN;
                }
                """
            try Data(code.utf8).write(to: URL(fileURLWithPath: folder.path("slow.c")))
            _ = try ReferenceCommand.run(
                "cc", ["-shared", "-fPIC", "-o", folder.path("slow.so"), folder.path("slow.c")])
            let late = try InletProcess.shell(
                "LD_PRELOAD=\(folder.path("slow.so")) $INLET run '\(scheme)://camera.example/x?connect-timeout=500ms' --retry never"
            )
            #expect(late.status == 75 && late.complaints.contains("connect-timeout"), "\(late.complaints)")
            try FileManager.default.removeItem(atPath: folder.path("asked"))
            let stopped = try InletProcess.shell(
                "LD_PRELOAD=\(folder.path("slow.so")) $INLET run '\(scheme)://camera.example/x?connect-timeout=40s' & until [ -e \(folder.path("asked")) ] || ! kill -0 $!; do sleep 0.05; done; kill -INT $!; wait $!"
            )
            #expect(stopped.status == 130 || stopped.status == 0, "\(stopped.status) \(stopped.complaints)")
            // Nothing waited for the answer.
            #expect(!FileManager.default.fileExists(atPath: folder.path("answered")))
        }
    }
}
