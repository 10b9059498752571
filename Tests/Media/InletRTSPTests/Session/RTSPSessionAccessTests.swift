import InletCore
import InletRTSP
import Testing

/// Credentials and redirections.
@Suite struct RTSPSessionAccessTests {
    private static let digest = #"Digest realm="r", nonce="n1", qop="auth""#
    private static let fresh = #"Digest realm="r", nonce="n2", qop="auth""#

    @Test func challengeIsAnsweredAndTheAnswerKept() throws {
        var server = try ScriptedServer("rtsp://user:pw@cam/live")
        server.handle(.connected)
        #expect(server.header("Authorization") == nil)
        server.reply(401, [("WWW-Authenticate", Self.digest)])
        #expect(server.takeLog() == ["DESCRIBE rtsp://cam/live", "DESCRIBE rtsp://cam/live"])
        #expect(server.header("CSeq") == "2")
        #expect(server.header("Authorization")?.containsBytes("uri=\"rtsp://cam/live\"") == true)
        #expect(server.header("Authorization")?.containsBytes("nc=00000001") == true)
        server.reply(200, body: ScriptedServer.sdp)
        #expect(server.header("Authorization")?.containsBytes("uri=\"rtsp://cam/live/track1\"") == true)
        #expect(server.header("Authorization")?.containsBytes("nc=00000002") == true)
    }

    @Test func newNonceIsAnsweredAtAnyStep() throws {
        var server = try ScriptedServer("rtsp://user:pw@cam/live")
        server.handle(.connected)
        server.reply(401, [("WWW-Authenticate", Self.digest)])
        server.reply(200, body: ScriptedServer.sdp)
        server.reply(401, [("WWW-Authenticate", Self.fresh)])
        #expect(server.header("Authorization")?.containsBytes("nonce=\"n2\"") == true)
        #expect(server.takeLog().suffix(2) == ["SETUP rtsp://cam/live/track1", "SETUP rtsp://cam/live/track1"])
    }

    @Test(
        "Wrong credentials are tried once, and the error names the offered schemes",
        arguments: [digest, fresh, "Basic realm=\"r\""])
    func wrong(_ second: String) throws {
        var server = try ScriptedServer("rtsp://user:pw@cam/live")
        server.handle(.connected)
        server.reply(401, [("WWW-Authenticate", Self.digest)])
        server.reply(401, [("WWW-Authenticate", second)])
        #expect(server.requests.count == 2)
        let failure = try #require(server.failure)
        #expect(failure.code == .authenticationFailed)
        #expect(failure.message.containsBytes(String(second.prefix(5))))
        #expect(!failure.description.containsBytes("pw"))
        #expect(!failure.description.containsBytes("n1"))
    }

    private static func both(_ number: Int) -> [(String, String)] {
        ["SHA-256", "MD5"].map {
            ("WWW-Authenticate", "Digest realm=\"r\", nonce=\"\($0)-\(number)\", algorithm=\($0)")
        }
    }

    @Test("A server that closes the connection after a refusal gets the other algorithm on another one, once")
    func otherAlgorithmOnAnotherConnection() throws {
        var server = try ScriptedServer("rtsp://user:pw@cam/live")
        server.handle(.connected)
        server.reply(401, Self.both(1))
        server.reply(401, Self.both(2))
        server.handle(.disconnected)
        #expect(server.failure == nil)
        #expect(server.takeLog().last == "reconnect rtsp://cam/live")
        server.handle(.connected)
        server.reply(401, Self.both(3))
        #expect(server.header("Authorization")?.containsBytes("nonce=\"MD5-3\"") == true)
        // The password is wrong, which another connection does not change.
        var refusing = server
        refusing.handle(.disconnected)
        #expect(refusing.failure?.code == .authenticationFailed)
        refusing = server
        refusing.reply(401, Self.both(4))
        #expect(refusing.failure?.code == .authenticationFailed)
        server.reply(200, body: ScriptedServer.sdp)
        #expect(server.failure == nil)
        #expect(server.header("Authorization")?.containsBytes("nonce=\"MD5-3\"") == true)
    }

    @Test func missingCredentialsAreToldWithTheSchemes() throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(
            401, [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, Basic realm=\"r\"")])
        #expect(server.failure?.code == .authenticationFailed)
        #expect(server.failure?.message.containsBytes("Digest (SHA-256), Basic") == true)
    }

    @Test func endlessStaleNoncesEnd() throws {
        var server = try ScriptedServer("rtsp://user:pw@cam/live")
        server.handle(.connected)
        for number in 0..<20 where server.failure == nil {
            server.reply(401, [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\(number)\", stale=true")])
        }
        #expect(server.failure?.code == .authenticationFailed)
        #expect(server.requests.count < 6)
    }

    // MARK: Redirections

    @Test(arguments: [301, 302, 303, 305])
    func redirectionIsFollowedOnANewConnection(_ status: Int) throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(status, [("Location", "rtsp://other:8554/x")])
        #expect(server.takeLog() == ["DESCRIBE rtsp://cam/live", "reconnect rtsp://other:8554/x"])
        #expect(server.session.url.port == 8554)
        server.handle(.connected)
        #expect(server.takeLog() == ["DESCRIBE rtsp://other:8554/x"])
    }

    private static let destinations: [(String, RTSPSessionConfiguration.RedirectCredentials, Bool)] = [
        ("rtsp://CAM:554/x", .sameOrigin, true), ("/x", .sameOrigin, true), ("rtsp://cam:8554/x", .sameOrigin, false),
        ("rtsps://cam/x", .sameOrigin, false), ("rtsp://other/x", .sameOrigin, false),
        ("rtsp://other/x", .anyHost, true), ("rtsp://own:secret@other/x", .sameOrigin, false),
    ]

    @Test("Credentials are sent to another server only on request", arguments: destinations)
    func redirected(
        _ location: String, _ policy: RTSPSessionConfiguration.RedirectCredentials, _ isSent: Bool
    ) throws {
        var server = try ScriptedServer("rtsp://user:pw@cam/live") { $0.redirectCredentials = policy }
        server.handle(.connected)
        server.reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")])
        server.reply(302, [("Location", location)])
        server.handle(.connected)
        #expect(server.header("Authorization") == nil)
        server.reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")])
        #expect((server.failure == nil) == isSent)
        #expect((server.header("Authorization") != nil) == isSent)
    }

    @Test func redirectionsAreBoundedAndNeverEndTheEncryption() throws {
        var server = try ScriptedServer { $0.mostRedirects = 3 }
        for _ in 0..<10 where server.failure == nil {
            server.handle(.connected)
            server.reply(302, [("Location", "rtsp://cam/live")])
        }
        #expect(server.failure?.code == .malformedData)
        #expect(server.requests.count == 4)
        var secure = try ScriptedServer("rtsps://cam/live")
        secure.handle(.connected)
        secure.reply(302, [("Location", "rtsp://cam/live")])
        #expect(secure.failure?.code == .tlsFailed)
        var lost = try ScriptedServer()
        lost.handle(.connected)
        lost.reply(302)
        #expect(lost.failure?.code == .malformedData)
    }

    @Test(
        "Basic is used only if it is permitted",
        arguments: [
            (.allowed, true, true), (.encryptedOnly, false, true), (.never, false, false),
        ] as [(RTSPAuthentication.BasicPolicy, Bool, Bool)])
    func basic(_ policy: RTSPAuthentication.BasicPolicy, _ isSentPlain: Bool, _ isSentEncrypted: Bool) throws {
        for (url, isSent) in [("rtsp://u:p@cam/x", isSentPlain), ("rtsps://u:p@cam/x", isSentEncrypted)] {
            var server = try ScriptedServer(url) { $0.basic = policy }
            server.handle(.connected)
            server.reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")])
            #expect((server.failure == nil) == isSent)
            #expect((server.header("Authorization") != nil) == isSent)
            if let error = server.failure { #expect(error.message.containsBytes("basic-auth=always")) }
            // If there is a choice, digest is used in any case.
            var choice = try ScriptedServer(url) { $0.basic = policy }
            choice.handle(.connected)
            choice.reply(401, [("WWW-Authenticate", "Basic realm=\"r\", \(Self.digest)")])
            #expect(choice.header("Authorization")?.containsBytes("Digest ") == true)
        }
    }

    @Test("A provisional answer is followed by the final one", arguments: [100, 199])
    func provisional(_ status: Int) throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        for (headers, body) in [
            ([], ScriptedServer.sdp), ([("Session", "1"), ("Transport", "RTP/AVP/TCP;interleaved=0-1")], ""), ([], ""),
        ] as [([(String, String)], String)] {
            let requests = server.requests.count
            server.reply(status, headers)
            server.reply(status)
            #expect(server.requests.count == requests && server.failure == nil)
            server.reply(200, headers, body: body)
        }
        #expect(server.playing != nil && server.requests.count == 3)
    }
}
