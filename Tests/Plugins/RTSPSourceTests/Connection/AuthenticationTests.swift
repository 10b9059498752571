import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// User authentication for servers that require it.
    @Suite struct AuthenticationTests {
        /// A password that no log and no error may show, with characters that an address must encode.
        private static let password = "s3cr3t:p@ss/w%25rd"

        private func options(_ kind: RTSPScript.Authentication) throws -> RTSPScript.Options {
            var options = try ScriptClip.of(.small).options
            options.pictures = 0
            options.authentication = kind
            options.user = "viewer"
            options.password = Self.password
            return options
        }

        private func run(_ server: RTSPScript, password: String = Self.password) -> SourceRun {
            SourceRun(
                .test(server.url) {
                    $0.user = "viewer"
                    $0.password = password
                }, decodes: false)
        }

        /// Expects that neither the log nor an error shows the password.
        private func expectSecret(_ run: SourceRun, _ error: InletError? = nil) {
            for text in [run.log.text, error.map { "\($0) \(String(reflecting: $0))" } ?? ""] {
                #expect(!text.contains("s3cr3t"), "\(text)")
            }
        }

        @Test(
            "Each authentication scheme is understood, and costs one refused request",
            arguments: [RTSPScript.Authentication.basic, .md5, .sha256, .several], [false, true])
        func kinds(_ kind: RTSPScript.Authentication, _ isOneLine: Bool) async throws {
            var options = try options(kind)
            options.hasOneChallengeLine = isOneLine
            let server = try RTSPScript(options)
            let run = run(server)
            _ = try await run.open()
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
            #expect(server.methods.starts(with: ["DESCRIBE", "DESCRIBE", "SETUP", "PLAY"]), "\(server.methods)")
            let answers = server.requests.compactMap { $0.headers["authorization"] }
            #expect(answers.allSatisfy { $0.hasPrefix(kind == .basic ? "Basic " : "Digest ") })
            // The strongest of several.
            if kind == .several { #expect(answers.allSatisfy { $0.contains("SHA-256") }) }
            expectSecret(run)
        }

        @Test(
            "The password is sent in readable form to no server that must not get it",
            arguments: [RTSPConfiguration.BasicAuthentication.encrypted, .never])
        func noBasic(_ policy: RTSPConfiguration.BasicAuthentication) async throws {
            let server = try RTSPScript(options(.basic))
            let run = SourceRun(
                .test(server.url) {
                    $0.user = "viewer"
                    $0.password = Self.password
                    $0.basicAuthentication = policy
                }, decodes: false)
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed && error?.message.contains("basic-auth") == true)
            #expect(server.methods == ["DESCRIBE"])
            expectSecret(run, error)
        }

        @Test("A nonce valid only once, or twice, is replaced as often as the server requires", arguments: [1, 2])
        func nonces(_ uses: Int) async throws {
            var options = try options(.md5)
            options.requestsPerNonce = uses
            let server = try RTSPScript(options)
            let run = run(server)
            _ = try await run.open()
            #expect(try await run.next()?.packet != nil)
            try await run.close()
            try await expectTeardown(server)
            expectSecret(run)
        }

        @Test("Credentials in the address are used, and appear in no request line")
        func inAddress() async throws {
            let server = try RTSPScript(options(.several))
            let address = "rtsp://viewer:s3cr3t%3Ap%40ss%2Fw%2525rd@127.0.0.1:\(server.port)/stream"
            let run = SourceRun(.test(address), decodes: false)
            _ = try await run.open()
            #expect(try await run.next()?.packet != nil)
            try await run.close()
            #expect(server.requests.allSatisfy { !$0.url.contains("@") })
            expectSecret(run)
        }

        @Test(
            "A wrong password is tried once, and never again",
            arguments: [RTSPScript.Authentication.basic, .md5, .sha256, .several])
        func wrongPassword(_ kind: RTSPScript.Authentication) async throws {
            let server = try RTSPScript(options(kind))
            let run = run(server, password: "s3cr3t-and-wrong")
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "no error")")
            // With each Digest algorithm, because some servers accept only one of those that they offer.
            #expect(server.methods == [String](repeating: "DESCRIBE", count: kind == .several ? 3 : 2))
            expectSecret(run, error)
        }

        @Test(
            "A server that accepts one of two algorithms gets it, whether or not it closes refused connections",
            arguments: RTSPScript.RefusalEnd.allCases)
        func otherAlgorithm(_ end: RTSPScript.RefusalEnd) async throws {
            var options = try options(.md5OfTwo)
            options.refusalEnd = end
            let server = try RTSPScript(options)
            let run = run(server)
            _ = try await run.open()
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
            let answers = server.requests.compactMap { $0.headers["authorization"] }
            #expect(answers.count { $0.contains("SHA-256") } == 1, "\(server.methods)")
            expectSecret(run)
        }

        @Test(
            "A wrong password ends the run even if the server closes refused connections",
            arguments: RTSPScript.RefusalEnd.allCases)
        func wrongPasswordAndClosed(_ end: RTSPScript.RefusalEnd) async throws {
            var options = try options(.md5OfTwo)
            options.refusalEnd = end
            let server = try RTSPScript(options)
            let run = run(server, password: "s3cr3t-and-wrong")
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "no error")")
            let answers = server.requests.compactMap { $0.headers["authorization"] }
            #expect((1...3).contains(answers.count), "\(answers.count)")
            expectSecret(run, error)
        }

        @Test("A server that requires a password gets none if none is configured")
        func noPassword() async throws {
            let server = try RTSPScript(options(.several))
            let error = try await SourceRun(.test(server.url), decodes: false).failure()
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "no error")")
            #expect(server.methods == ["DESCRIBE"])
        }

        @Test("A server that accepts no credentials, even with new nonces, is not asked for ever")
        func endlessRefusal() async throws {
            let server = try HostileServer(.unauthorized)
            let run = SourceRun(
                .test(server.url("rtsp")) {
                    $0.user = "viewer"
                    $0.password = Self.password
                }, decodes: false)
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "no error")")
            #expect(try server.report()["connections"]?.int == 1)
            expectSecret(run, error)
        }
    }
}

/// Waits for a TEARDOWN to arrive.
func expectTeardown(_ server: RTSPScript, _ count: Int = 1) async throws {
    func teardowns() -> Int { server.methods.count { $0 == "TEARDOWN" } }
    try await Waiting.until("a TEARDOWN", progress: { server.requests.count }) { teardowns() >= count }
}
