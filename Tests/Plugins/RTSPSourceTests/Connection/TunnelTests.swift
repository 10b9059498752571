import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// RTSP in HTTP with gst-rtsp-server, which has the other end of the tunnel, directly and behind proxies.
    @Suite struct TunnelTests {
        private func run(
            _ url: String, authority: String? = nil, password: String? = nil,
            _ change: (inout RTSPConfiguration) -> Void = { _ in }
        ) -> SourceRun {
            SourceRun(
                .test(url) {
                    $0.transport = .http
                    $0.certificateAuthorities = authority
                    if let password { ($0.user, $0.password) = ("camera", password) }
                    change(&$0)
                })
        }

        @Test(
            "Every picture arrives as in the file, whatever the server requires",
            arguments: [RTSPServer.Authentication.none, .basic, .digest], [false, true])
        func pictures(_ authentication: RTSPServer.Authentication, _ isTLS: Bool) async throws {
            let clip = try TunnelClip.get()
            let server = try clip.server(authentication, isTLS: isTLS)
            let run = run(server.url, authority: server.authority, password: authentication == .none ? nil : "secret")
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(server.process.log)")
            let report = try server.report()
            // The connections of GET and POST.
            #expect(report["requests"]?["connections"]?.int == 2)
            #expect(try await server.teardowns() == 1)
        }

        @Test(
            "nginx passes a tunnel on, with its own password and over TLS", arguments: [false, true],
            [false, true])
        func nginx(_ isProtected: Bool, _ isTLS: Bool) async throws {
            let clip = try TunnelClip.get()
            let server = try clip.server()
            var options = RTSPTunnel.Options(.nginx)
            options.authentication = isProtected ? .basic : .none
            options.isTLS = isTLS
            let gate = try RTSPTunnel(to: server, options)
            let run = run(gate.url, authority: gate.authority, password: isProtected ? "secret" : nil)
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(gate.process.log)")
        }

        @Test(
            "Credentials that the GET, the POST or both require are sent when they are requested",
            arguments: [RTSPServer.Authentication.basic, .digest], [nil, "GET", "POST"])
        func challenges(_ authentication: RTSPServer.Authentication, _ method: String?) async throws {
            let clip = try TunnelClip.get()
            let server = try clip.server()
            var options = RTSPTunnel.Options(.http)
            options.authentication = authentication
            options.protectedMethod = method
            let gate = try RTSPTunnel(to: server, options)
            let run = run(gate.url, password: "secret")
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(gate.process.log)")
            let scheme = authentication == .basic ? " Basic" : " Digest"
            let (get, post) = ("GET /stream", "POST /stream")
            // The POST reuses what the GET has learned.
            #expect(
                try gate.report().requests
                    == (method == "POST"
                        ? [get, post, post + scheme] : [get, get + scheme, post + scheme]))
            #expect(!run.log.text.contains("secret"))
        }

        @Test("A wrong password is tried once", arguments: [RTSPServer.Authentication.basic, .digest])
        func wrongPassword(_ authentication: RTSPServer.Authentication) async throws {
            let server = try TunnelClip.get().server()
            var options = RTSPTunnel.Options(.http)
            options.authentication = authentication
            let gate = try RTSPTunnel(to: server, options)
            let run = run(gate.url, password: "s3cr3t-and-wrong")
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "no error")")
            #expect(try gate.report().requests.count == 2)
            #expect(!"\(run.log.text) \(error.map { "\($0)" } ?? "")".contains("s3cr3t"))
        }

        @Test func aServerThatEndsEachPostGetsTheNextMessageInAnother() async throws {
            let clip = try TunnelClip.get()
            let server = try clip.server()
            var options = RTSPTunnel.Options(.http)
            options.endsPosts = true
            let gate = try RTSPTunnel(to: server, options)
            let run = run(gate.url)
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(gate.process.log)")
            // One for DESCRIBE, SETUP, PLAY and more each.
            #expect(try gate.report().requests.count { $0.utf8.starts(with: "POST".utf8) } >= 4)
            #expect(try await server.teardowns() == 1)
        }

        @Test(
            "A server without the tunnel is an error, and delays nothing",
            arguments: [
                (.blackHole, .timedOut), (.slowLoris, .timedOut), (.close, .disconnected),
                (.endlessHeader, .malformedData), (.endlessLine, .malformedData), (.random, nil),
                (.unauthorized, .authenticationFailed), (.unauthorizedBasic, .authenticationFailed),
                (.forbidden, .authenticationFailed), (.notFound, .notFound), (.unavailable, .serverUnavailable),
                (.redirectEndless, .unsupported), (.garbageStream, nil),
            ] as [(HostileServer.Kind, InletError.Code?)], [RTSPConfiguration.Transport.http, .websocket])
        func hostile(
            _ what: (HostileServer.Kind, InletError.Code?), _ transport: RTSPConfiguration.Transport
        ) async throws {
            let server = try HostileServer(what.0)
            let run = run(server.url("rtsp"), password: "secret") {
                $0.transport = transport
                $0.connectTimeout = .seconds(1)
            }
            let begin = ContinuousClock.now
            let error = try await run.failure()
            #expect(error != nil && what.1 ?? error?.code == error?.code, "\(error.map { "\($0)" } ?? "no error")")
            #expect(ContinuousClock.now - begin < .seconds(5))
            #expect(!"\(run.log.text) \(error.map { "\($0)" } ?? "")".contains("secret"))
        }

        @Test func aServerThatSendsNothingMoreEndsTheTunnel() async throws {
            let server = try RTSPServer.live()
            let run = run(server.url) { $0.readTimeout = .milliseconds(500) }
            _ = try await run.open()
            #expect(try await run.next()?.frame != nil)
            try server.stopSending()
            #expect(try await run.failureOfNext()?.code == .timedOut)
            try await run.close()
        }

        @Test func aConnectionThatIsCutIsAnError() async throws {
            let server = try RTSPServer.live()
            let run = run(server.url)
            _ = try await run.open()
            #expect(try await run.next()?.frame != nil)
            try server.killConnections()
            #expect(try await run.failureOfNext()?.code == .disconnected)
            try await run.close()
        }
    }
}

extension SourceRun {
    /// Reads on until the source fails.
    ///
    /// - Returns: the error; nil if it does not fail within 1,000 items.
    func failureOfNext() async throws -> InletError? {
        do {
            for _ in 0..<1000 where try await next() == nil { return nil }
            return nil
        } catch let error as InletError {
            return error
        }
    }
}
