import InletCore
import InletRTSP
import Testing

/// What happens while the stream plays, and how it ends.
@Suite struct RTSPSessionKeepingTests {
    private static func playing(
        sessionHeader: String = "AB;timeout=20", _ change: (inout RTSPSessionConfiguration) -> Void = { _ in }
    ) throws -> ScriptedServer {
        var server = try ScriptedServer("rtsp://cam/live", change)
        server.play(sessionHeader: sessionHeader)
        _ = server.takeLog()
        return server
    }

    @Test func keepAliveAsksForTheMethodsFirst() throws {
        for (offered, method) in [
            ("OPTIONS, DESCRIBE, GET_PARAMETER", "GET_PARAMETER"), ("OPTIONS, PLAY", "OPTIONS"), ("", "OPTIONS"),
        ] {
            var server = try Self.playing()
            #expect(server.session.deadline == server.now + .seconds(10))
            server.waitForDeadline()
            #expect(server.takeLog() == ["OPTIONS rtsp://cam/live"])
            #expect(server.header("Session") == "AB")
            server.reply(200, [("Public", offered)])
            // OPTIONS may not have counted, so that the session would end at the next deadline.
            #expect(server.takeLog() == (method == "OPTIONS" ? [] : ["\(method) rtsp://cam/live"]))
            server.waitForDeadline()
            #expect(server.takeLog() == ["\(method) rtsp://cam/live"])
            #expect(server.header("Content-Length") == nil)
        }
    }

    @Test(
        "Keep-alives come at half of the time-out",
        arguments: [
            ("1", 30.0), ("1;timeout=60", 30), ("1;timeout=10", 5), ("1;timeout=3600", 30), ("1;timeout=0", 30),
            ("1;timeout=1", 0.5),
        ])
    func interval(_ header: String, _ seconds: Double) throws {
        let server = try Self.playing(sessionHeader: header)
        #expect(server.session.deadline == server.now + .seconds(seconds))
    }

    @Test func unansweredKeepAlivesDoNotFail() throws {
        var server = try Self.playing()
        for _ in 0..<100 { server.waitForDeadline() }
        #expect(server.takeLog() == [String](repeating: "OPTIONS rtsp://cam/live", count: 100))
        server.reply(to: server.requests.first, 404)
        #expect(server.failure == nil)
    }

    @Test(arguments: [405, 501, 551])
    func refusedMethodIsReplacedAtOnceAndRemembered(_ status: Int) throws {
        var server = try Self.playing()
        server.waitForDeadline()
        server.reply(200, [("Public", "GET_PARAMETER")])
        server.waitForDeadline()
        server.reply(status)
        #expect(server.takeLog().suffix(2) == ["GET_PARAMETER rtsp://cam/live", "OPTIONS rtsp://cam/live"])
        server.reply(status)
        #expect(server.takeLog() == ["SET_PARAMETER rtsp://cam/live"])
        server.reply(status)
        #expect(server.takeLog() == [])
        server.waitForDeadline()
        #expect(server.takeLog() == ["OPTIONS rtsp://cam/live"])
        let memory = server.session.keepAlive
        var next = try Self.playing { $0.keepAlive = memory }
        next.waitForDeadline()
        #expect(next.takeLog() == ["OPTIONS rtsp://cam/live"])
    }

    @Test func sessionThatDiesAtItsTimeoutChangesTheMethodOfTheNext() throws {
        for (seconds, method) in [(20, "GET_PARAMETER"), (5, "OPTIONS"), (600, "OPTIONS")] {
            var server = try Self.playing()
            server.now = server.now + .seconds(seconds)
            server.handle(.disconnected)
            #expect(server.takeLog() == ["fail disconnected", "close"])
            let memory = server.session.keepAlive
            var next = try Self.playing { $0.keepAlive = memory }
            next.waitForDeadline()
            #expect(next.takeLog() == ["\(method) rtsp://cam/live"])
        }
    }

    @Test func keepAliveIsAuthenticatedAgainWhenTheServerAsks() throws {
        var server = try ScriptedServer("rtsp://u:p@cam/live")
        server.play()
        server.waitForDeadline()
        server.reply(401, [("WWW-Authenticate", #"Digest realm="r", nonce="n9""#)])
        #expect(server.takeLog().suffix(2) == ["OPTIONS rtsp://cam/live", "OPTIONS rtsp://cam/live"])
        #expect(server.header("Authorization")?.containsBytes("n9") == true)
        server.reply(401, [("WWW-Authenticate", #"Digest realm="r", nonce="n10""#)])
        #expect(server.takeLog() == [])
        #expect(server.failure == nil)
    }

    @Test func forgottenSessionIsLost() throws {
        var server = try Self.playing()
        server.waitForDeadline()
        server.reply(454)
        #expect(server.takeLog().suffix(2) == ["fail sessionLost", "close"])
        #expect(server.failure?.retry == .anytime)
    }

    @Test func firstSessionNumberIsKept() throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        server.reply(200, [("Session", "first")])
        server.reply(200, [("Session", "second;timeout=4")])
        server.waitForDeadline()
        #expect(server.header("Session") == "first")
    }

    // MARK: Pause

    @Test func streamPausesAndGoesOn() throws {
        var server = try Self.playing()
        server.handle(.pause)
        #expect(server.takeLog() == ["PAUSE rtsp://cam/live"])
        server.reply(200)
        #expect(server.takeLog() == ["paused"])
        server.waitForDeadline()
        #expect(server.takeLog() == ["OPTIONS rtsp://cam/live"])
        server.handle(.resume)
        #expect(server.takeLog() == ["PLAY rtsp://cam/live"])
        #expect(server.header("Range") == nil)
        server.reply(200)
        #expect(server.takeLog() == ["playing"])
    }

    @Test func wishesWaitForTheOutstandingAnswer() throws {
        var server = try ScriptedServer()
        server.handle(.pause)
        server.play()
        #expect(server.takeLog().suffix(2) == ["playing", "PAUSE rtsp://cam/live"])
        server.handle(.resume)
        #expect(server.takeLog() == [])
        server.reply(200)
        #expect(server.takeLog() == ["paused", "PLAY rtsp://cam/live"])
    }

    @Test func refusedPauseLeavesTheStreamPlaying() throws {
        for status in [405, 455, 501, 0] {
            var server = try Self.playing()
            server.handle(.pause)
            if status == 0 { server.waitForDeadline() } else { server.reply(status) }
            #expect(server.takeLog() == ["PAUSE rtsp://cam/live", "pauseRefused"])
            #expect(server.failure == nil)
        }
    }

    // MARK: Requests of the server

    @Test func requestsOfTheServerAreAnswered() throws {
        for (method, expected) in [("OPTIONS", "reply 200"), ("SET_PARAMETER", "reply 501"), ("FOO", "reply 501")] {
            var server = try Self.playing()
            server.handle(
                .request(
                    RTSPRequest(method: Array(method.utf8), uri: [0x2A], headers: RTSPHeaders([("CSeq", "5")]))))
            #expect(server.takeLog() == [expected])
        }
    }

    @Test func teardownOfTheServerAndItsNoticeEndTheStream() throws {
        for (method, notice) in [("TEARDOWN", "x"), ("ANNOUNCE", "2101 \"End-of-Stream Reached\"")] {
            var server = try Self.playing()
            server.handle(
                .request(
                    RTSPRequest(method: Array(method.utf8), uri: [0x2A], headers: RTSPHeaders([("x-notice", notice)]))))
            #expect(server.takeLog() == ["reply 200", "fail streamEnded", "TEARDOWN rtsp://cam/live"])
        }
    }

    // MARK: End

    @Test func closeTearsDownAndWaitsBriefly() throws {
        for answers in [true, false] {
            var server = try Self.playing()
            server.handle(.close)
            #expect(server.takeLog() == ["TEARDOWN rtsp://cam/live"])
            #expect(server.session.deadline == server.now + .milliseconds(150))
            if answers { server.reply(500) } else { server.waitForDeadline() }
            #expect(server.takeLog() == ["close"])
            #expect(server.session.isClosed)
            server.handle(.timer)
            server.handle(.close)
            server.handle(.disconnected)
            #expect(server.takeLog() == [])
        }
    }

    @Test func closeWithoutASessionEndsAtOnce() throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.handle(.close)
        #expect(server.takeLog() == ["DESCRIBE rtsp://cam/live", "close"])
    }
}
