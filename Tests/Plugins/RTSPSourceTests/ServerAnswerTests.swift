import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Servers that redirect or refuse.
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
            "The target of a redirection to another server gets the credentials only by option",
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
            // Nothing listens there, which only a client that connects finds out.
            let followed = try await failure(server.url) { $0.privateAddresses = .follow }
            #expect(followed?.code == .connectionRefused, "\(followed.map { "\($0)" } ?? "none")")
        }

        @Test("Endless redirections are followed eight times")
        func loop() async throws {
            let server = try HostileServer(.redirectEndless)
            let error = try await failure(server.url("rtsp"))
            #expect(error?.code == .malformedData, "\(error.map { "\($0)" } ?? "none")")
            #expect(try server.report()["connections"]?.int == 9)
        }

        @Test("A redirection to a server that accepts no connections ends with the connection time-out", .alone)
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

        @Test("If a server refuses UDP, or sends nothing by UDP, TCP is requested")
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
            let configuration = RTSPConfiguration.test(lossy.url) { $0.transport = .udp }
            let scoped = try #require(configuration.scopedToCapturer() as? RTSPConfiguration)
            try await expectPlays(scoped)
            #expect(lossy.methods.count { $0 == "PLAY" } == 2, "\(lossy.methods)")
            // The same capturer does not wait in vain again.
            try await expectPlays(scoped)
            #expect(lossy.methods.count { $0 == "PLAY" } == 3, "\(lossy.methods)")
        }

        @Test("If multicast is refused or silent, unicast datagrams are requested, then TCP")
        func multicast() async throws {
            for (isMute, transport) in [(false, RTSPScript.Transport.all), (true, .all), (true, .tcp)] {
                var options = try options()
                options.transport = transport
                options.isMulticastMute = isMute
                // The answer arrives when the client has continued with another connection.
                options.delays = ["TEARDOWN=1"]
                let server = try RTSPScript(options)
                try await expectPlays(.test(server.url) { $0.transport = .multicast })
                let asked = server.requests.filter { $0.method == "SETUP" }.compactMap { $0.headers["transport"] }
                #expect(asked.first?.contains("multicast") == true)
                #expect(asked.dropFirst().first?.contains("client_port=") == true)
                #expect(asked.last?.contains("interleaved") == (transport == .tcp), "\(asked)")
                try await expectTeardown(server, isMute ? 2 : 1)
            }
        }

        @Test("If a server closes a connection without OPTIONS, the next ones send it")
        func optionsFirst() async throws {
            var options = try options()
            options.mutations = [.optionsFirst]
            options.authentication = .md5
            let server = try RTSPScript(options)
            let configuration = RTSPConfiguration.test(server.url) { ($0.user, $0.password) = ("camera", "secret") }
            let scoped = try #require(configuration.scopedToCapturer() as? RTSPConfiguration)
            for _ in 0..<2 { try await expectPlays(scoped) }
            let first = (1...3).map { number in server.requests.first { $0.connection == number }?.method }
            #expect(first == ["DESCRIBE", "OPTIONS", "OPTIONS"])
            #expect(server.connections.accepted == 3)
        }

        @Test("A second description is followed: other parameter sets are used, another codec ends the source")
        func secondDescription() async throws {
            var options = try options()
            options.mutations = [.loss]
            options.percent = 100
            options.laterFile = try ScriptClip.of(.slices).path
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url) { $0.transport = .udp }, decodes: false)
            let format = try await run.open()
            let first = format.packetStream?.parameters.extraData
            let packet = try #require(try await run.next()?.packet)
            #expect(first?.isEmpty == false && packet.parameters.extraData != first)
            #expect(packet.isKey && packet.flags.isDisjoint(with: [.loss, .discontinuity]))
            try await run.close()
            options.laterCodec = "H265"
            let other = try RTSPScript(options)
            let error = try await failure(other.url) { $0.transport = .udp }
            #expect(error?.code == .formatChanged, "\(error.map { "\($0)" } ?? "none")")
        }

        @Test("A request to move is answered and followed, and the stream continues after the earlier pictures")
        func redirectRequest() async throws {
            let second = try RTSPScript(options())
            var options = try options()
            options.laterRedirect = second.url
            let first = try RTSPScript(options)
            let run = SourceRun(.test(first.url), decodes: false)
            _ = try await run.open()
            var last: Int64 = .min
            var breaks: [Bool] = []
            for _ in 0..<500 where breaks.isEmpty || second.sent.count < 5 {
                let packet = try #require(try await run.next()?.packet)
                let ticks = try #require(packet.pts?.ticks)
                #expect(ticks > last)
                last = ticks
                if packet.flags.contains(.discontinuity) { breaks.append(packet.isKey) }
            }
            #expect(breaks == [true])
            #expect(first.answers == [200])
            try await run.close()
            try await expectTeardown(first)
            try await expectTeardown(second)
        }

        @Test("A request to move to a forbidden address ends the source")
        func refusedRequest() async throws {
            var options = try options()
            options.laterRedirect = "rtsp://127.0.0.2/stream"
            let server = try RTSPScript(options)
            let error = try await failure(server.url) { $0.privateAddresses = .deny }
            #expect(error?.code == .addressRefused, "\(error.map { "\($0)" } ?? "none")")
        }

        @Test("An address without a listener is refused at once")
        func nothingThere() async throws {
            let port = try FreePort.find()
            let error = try await failure("rtsp://127.0.0.1:\(port)/stream")
            #expect(error?.code == .connectionRefused, "\(error.map { "\($0)" } ?? "none")")
        }
    }
}
