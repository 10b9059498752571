import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Servers that lead elsewhere, or refuse.
    @Suite struct ServerAnswerTests {
        private func options() throws -> RTSPScript.Options {
            var options = try ScriptClip.of(.small).options
            options.pictures = 0
            return options
        }

        private func expectPlays(_ configuration: RTSPConfiguration) async throws {
            let run = SourceRun(configuration, decodes: false)
            _ = try await run.open()
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
        }

        private func failure(_ url: String, _ change: (inout RTSPConfiguration) -> Void = { _ in }) async throws
            -> InletError?
        {
            try await SourceRun(.test(url, change), decodes: false).failure()
        }

        @Test("A redirection to a path of the same server is followed, with the credentials")
        func samePlace() async throws {
            var options = try options()
            options.redirect = "moved"
            options.authentication = .md5
            let server = try RTSPScript(options)
            try await expectPlays(
                .test(server.url) {
                    $0.user = "camera"
                    $0.password = "secret"
                })
            #expect(server.requests.contains { $0.method == "PLAY" && $0.url.hasPrefix("\(server.url)/moved") })
            try await expectTeardown(server)
        }

        @Test(
            "A server that another one leads to gets the credentials only by option",
            arguments: ["127.0.0.1", "localhost"], [false, true])
        func elsewhere(_ host: String, _ isShared: Bool) async throws {
            var options = try options()
            options.authentication = .basic
            let second = try RTSPScript(options)
            options.redirect = "rtsp://\(host):\(second.port)/stream"
            let first = try RTSPScript(options)
            let run = SourceRun(
                .test(first.url) {
                    $0.user = "camera"
                    $0.password = "secret"
                    $0.sharesCredentials = isShared
                }, decodes: false)
            let error = try await run.failure(within: 1)
            #expect(error?.code == (isShared ? nil : .authenticationFailed), "\(error.map { "\($0)" } ?? "none")")
            #expect(second.requests.first?.method == "DESCRIBE")
            #expect(second.requests.contains { $0.headers["authorization"] != nil } == isShared)
        }

        @Test("A redirection to an address that was not allowed is refused")
        func refusedAddress() async throws {
            var options = try options()
            options.redirect = "rtsp://127.0.0.2/stream"
            let server = try RTSPScript(options)
            let refused = try await failure(server.url) { $0.privateAddresses = .deny }
            #expect(refused?.code == .addressRefused, "\(refused.map { "\($0)" } ?? "none")")
            // Nothing listens there, which only who goes there finds out.
            let followed = try await failure(server.url) { $0.privateAddresses = .follow }
            #expect(followed?.code == .connectionRefused, "\(followed.map { "\($0)" } ?? "none")")
        }

        @Test("Redirections without end are followed eight times")
        func loop() async throws {
            let server = try HostileServer(.redirectEndless)
            let error = try await failure(server.url("rtsp"))
            #expect(error?.code == .malformedData, "\(error.map { "\($0)" } ?? "none")")
            #expect(try server.report()["connections"]?.int == 9)
        }

        @Test("A redirection to a server that takes no connections ends with the time for connecting")
        func deadEnd() async throws {
            let silent = try ReferenceSocket.thatTakesNoConnections()
            var options = try options()
            options.redirect = "rtsp://127.0.0.1:\(silent.port)/stream"
            let server = try RTSPScript(options)
            let start = ContinuousClock.now
            let error = try await failure(server.url) { $0.connectTimeout = .seconds(2) }
            #expect(error?.code == .timedOut, "\(error.map { "\($0)" } ?? "none")")
            #expect(ContinuousClock.now - start < .milliseconds(3500))
        }

        @Test(
            "A refusal is a typed error, and the server is not asked again",
            arguments: [
                ("DESCRIBE=404", .notFound), ("DESCRIBE=403", .authenticationFailed), ("DESCRIBE=453", .noBandwidth),
                ("SETUP=453", .noBandwidth), ("PLAY=453", .noBandwidth), ("DESCRIBE=503", .serverUnavailable),
                ("SETUP=461", .unsupported), ("PLAY=454", .sessionLost), ("PLAY=500", .serverUnavailable),
                ("PLAY=403", .authenticationFailed),
            ] as [(String, InletError.Code)])
        func refusals(_ refusal: String, _ code: InletError.Code) async throws {
            var options = try options()
            options.refusals = [refusal]
            let server = try RTSPScript(options)
            let error = try await failure(server.url)
            #expect(error?.code == code, "\(error.map { "\($0)" } ?? "none")")
            let method = String(refusal.prefix { $0 != "=" })
            #expect(server.methods.count { $0 == method } == 1, "\(server.methods)")
        }

        @Test("A server that refuses UDP is asked for TCP, and so is one from which nothing comes by UDP")
        func fallback() async throws {
            var options = try options()
            options.transport = .tcp
            let server = try RTSPScript(options)
            try await expectPlays(.test(server.url) { $0.transport = .udp })
            #expect(
                server.methods.starts(with: ["DESCRIBE", "SETUP", "DESCRIBE", "SETUP", "PLAY"]), "\(server.methods)")
            options.transport = .all
            options.mutations = [.loss]
            options.percent = 100
            options.frameRate = 10
            let lossy = try RTSPScript(options)
            try await expectPlays(.test(lossy.url) { $0.transport = .udp })
            #expect(lossy.methods.count { $0 == "PLAY" } == 2, "\(lossy.methods)")
        }

        @Test("An address where nothing listens is refused at once")
        func nothingThere() async throws {
            let port = try await FreePort.find()
            let error = try await failure("rtsp://127.0.0.1:\(port)/stream")
            #expect(error?.code == .connectionRefused, "\(error.map { "\($0)" } ?? "none")")
        }
    }
}
