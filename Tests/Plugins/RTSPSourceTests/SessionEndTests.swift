import Foundation
import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Sessions are kept alive, and ended.
    @Suite struct SessionEndTests {
        private func options() throws -> RTSPScript.Options {
            var options = try ScriptClip.of(.small).options
            options.pictures = 0
            return options
        }

        /// Reads units for a while.
        ///
        /// - Returns: the error that ended the stream, if one did.
        private func play(_ run: SourceRun, for time: Duration) async throws -> InletError? {
            let end = ContinuousClock.now + time
            do {
                _ = try await run.open()
                while ContinuousClock.now < end { #expect(try await run.next()?.packet != nil) }
                return nil
            } catch let error as InletError {
                return error
            }
        }

        @Test(
            "A session that needs signs of life is kept alive, by a request that the server accepts",
            arguments: [
                ("GET_PARAMETER", [], nil), ("OPTIONS", ["GET_PARAMETER=405"], nil),
                ("OPTIONS", ["GET_PARAMETER=501"], nil), ("OPTIONS", [], "OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN"),
            ] as [(String, [String], String?)], [RTSPScript.Transport.tcp, .udp])
        func keepAlive(
            _ sign: (method: String, refusals: [String], publicMethods: String?), _ transport: RTSPScript.Transport
        ) async throws {
            var options = try options()
            options.signsOfLife = sign.method
            options.refusals = sign.refusals
            options.publicMethods = sign.publicMethods
            options.sessionTimeout = 2
            options.frameRate = 10
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url) { $0.transport = transport == .udp ? .udp : .tcp }, decodes: false)
            #expect(try await play(run, for: .seconds(5)) == nil)
            #expect(!server.hasExpired)
            // Some cameras accept no other address, and no request without the session.
            let requests = server.requests.filter { ["OPTIONS", "GET_PARAMETER"].contains($0.method) }
            #expect(requests.allSatisfy { $0.headers["session"] != nil && $0.url == "\(server.url)/" }, "\(requests)")
            #expect(!server.controlPackets.isEmpty)
            try await run.close()
            try await expectTeardown(server)
        }

        @Test(
            "A session without keep-alives ends as a broken connection, so that the tests of keep-alives can fail")
        func dies() async throws {
            var options = try options()
            options.signsOfLife = "ANNOUNCE"
            options.sessionTimeout = 1
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url), decodes: false)
            #expect(try await play(run, for: .seconds(10))?.code == .disconnected)
            #expect(server.hasExpired)
            try await run.close()
        }

        @Test(
            "A session that dies at its time-out, however it shows, makes the capturer use another keep-alive",
            arguments: RTSPScript.End.allCases)
        func otherSign(_ end: RTSPScript.End) async throws {
            var options = try options()
            options.signsOfLife = "GET_PARAMETER"
            options.publicMethods = "OPTIONS, PLAY"
            options.sessionTimeout = 2
            options.end = end
            let server = try RTSPScript(options)
            let configuration = RTSPConfiguration.test(server.url) { $0.readTimeout = .seconds(1) }
            var scoped = try #require(configuration.scopedToCapturer() as? RTSPConfiguration)
            let first = SourceRun(scoped, decodes: false)
            let error = try await play(first, for: .seconds(20))
            #expect(error != nil)
            try await first.close()
            // A server that the machine delays for a second is not silent.
            scoped.readTimeout = RTSPConfiguration.test(server.url).readTimeout
            let second = SourceRun(scoped, decodes: false)
            #expect(try await play(second, for: .seconds(5)) == nil)
            try await second.close()
            let signs = server.requests.filter { ["OPTIONS", "GET_PARAMETER"].contains($0.method) }
            #expect(Set(signs.filter { $0.connection == 1 }.map(\.method)) == ["OPTIONS"])
            #expect(Set(signs.filter { $0.connection == 2 }.map(\.method)) == ["GET_PARAMETER"])
        }

        @Test("An end by RTCP is seen without another byte, however short", arguments: [RTSPScript.End.bye, .loneBye])
        func farewell(_ end: RTSPScript.End) async throws {
            let server = try RTSPScript(options())
            let run = SourceRun(.test(server.url) { $0.transport = .tcp }, decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            try server.end(end)
            let error = await #expect(throws: InletError.self) {
                while true { _ = try #require(try await run.next()?.packet) }
            }
            #expect(error?.code == .streamEnded, "\(error as Any)")
            try await run.close()
        }

        @Test("A paused session is kept alive")
        func pause() async throws {
            var options = try options()
            options.signsOfLife = "OPTIONS,GET_PARAMETER"
            options.sessionTimeout = 2
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url), decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            #expect(try await run.pause())
            try await Task.sleep(for: .seconds(5))
            #expect(!server.hasExpired && server.requests.count { $0.method == "GET_PARAMETER" } >= 2)
            try await run.resume()
            #expect(try await run.next()?.packet != nil)
            #expect(server.connections.accepted == 1)
            try await run.close()
            try await expectTeardown(server)
        }

        @Test("A session that ends during a pause is restarted", arguments: RTSPScript.End.allCases, [false, true])
        func pauseAndEnd(_ end: RTSPScript.End, _ isNoticed: Bool) async throws {
            var options = try options()
            options.sessionTimeout = isNoticed ? 1 : 60
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url), decodes: false)
            _ = try await run.open()
            let before = try #require(try await run.next()?.packet?.pts)
            #expect(try await run.pause())
            try server.end(end)
            // Long enough for a keep-alive, which is refused.
            if isNoticed { try await Task.sleep(for: .seconds(2)) }
            try await run.resume()
            var packet = try #require(try await run.next()?.packet)
            // A picture that was in flight when the server paused may arrive before the new session.
            for _ in 0..<2 where !packet.flags.contains(.discontinuity) || packet.flags.contains(.loss) {
                packet = try #require(try await run.next()?.packet)
            }
            #expect(packet.isKey && packet.flags.contains(.discontinuity) && !packet.flags.contains(.loss))
            #expect(try #require(packet.pts) > before)
            // The server may have read the request on the old connection later.
            #expect(server.requests.contains { $0.method == "PLAY" && $0.connection == 2 })
            try await run.close()
        }

        @Test("A cancellation in a pause ends the session at the server")
        func cancelledPause() async throws {
            let server = try RTSPScript(options())
            let run = SourceRun(.test(server.url), decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            #expect(try await run.pause())
            run.cancel()
            try await run.close()
            try await expectTeardown(server)
        }

        @Test(
            "A session whose number is still on its way is ended once it has arrived",
            arguments: [true, false])
        func endDuringSetup(_ isCancelled: Bool) async throws {
            var options = try options()
            options.delays = ["SETUP=1.5"]
            let server = try RTSPScript(options)
            let run = SourceRun(
                .test(server.url) { if !isCancelled { $0.connectTimeout = .milliseconds(700) } }, decodes: false)
            let opening = Task { _ = try await run.open() }
            if isCancelled {
                while !server.methods.contains("SETUP") { try await Task.sleep(for: .milliseconds(20)) }
                run.cancel()
            }
            let error = await #expect(throws: InletError.self) { try await opening.value }
            #expect(error?.code == (isCancelled ? .cancelled : .timedOut))
            try await run.close()
            try await expectTeardown(server)
            #expect(server.requests.last?.headers["session"] != nil)
        }

        @Test("A close ends the session at the server", arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func close(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try RTSPScript(options())
            let run = SourceRun(.test(server.url) { $0.transport = transport }, decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            try await run.close()
            try await expectTeardown(server)
            #expect(server.methods == ["DESCRIBE", "SETUP", "PLAY", "TEARDOWN"])
            #expect(server.requests.last?.headers["session"] != nil)
        }

        @Test("A cancellation ends the session at the server", arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func cancellation(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try RTSPScript(options())
            let run = SourceRun(.test(server.url) { $0.transport = transport }, decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            run.cancel()
            let error = await #expect(throws: InletError.self) { while true { _ = try await run.next() } }
            #expect(error?.code == .cancelled)
            try await run.close()
            try await expectTeardown(server)
        }

        @Test("A session that could not be played is ended, too", arguments: ["PLAY=500", "PLAY=453", "PLAY=403"])
        func failedPlay(_ refusal: String) async throws {
            var options = try options()
            options.refusals = [refusal]
            let server = try RTSPScript(options)
            let error = try await SourceRun(.test(server.url), decodes: false).failure()
            #expect(error != nil)
            try await expectTeardown(server)
        }

        @Test(
            "A close does not wait for a silent server, which gets its TEARDOWN all the same", .alone,
            arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func muteServer(_ transport: RTSPConfiguration.Transport) async throws {
            let server = try RTSPScript(options())
            let run = SourceRun(.test(server.url) { $0.transport = transport }, decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            kill(server.process.processIdentifier, SIGSTOP)
            defer { kill(server.process.processIdentifier, SIGCONT) }
            // Measures the time of the call on the source's own thread.
            run.cancel()
            try await run.close()
            #expect(run.timeAfterCancellation < .milliseconds(300))
            kill(server.process.processIdentifier, SIGCONT)
            try await expectTeardown(server)
        }

        @Test("A server that falls silent is noticed, and so is one that stops while its connection is full")
        func silence() async throws {
            let server = try RTSPScript(options())
            let run = SourceRun(.test(server.url) { $0.readTimeout = .milliseconds(400) }, decodes: false)
            _ = try await run.open()
            _ = try await run.next()
            kill(server.process.processIdentifier, SIGSTOP)
            defer { kill(server.process.processIdentifier, SIGCONT) }
            let error = await #expect(throws: InletError.self) { while true { _ = try await run.next() } }
            #expect(error?.code == .timedOut && error?.message.contains("read-timeout") == true)
            try await run.close()
        }
    }
}
