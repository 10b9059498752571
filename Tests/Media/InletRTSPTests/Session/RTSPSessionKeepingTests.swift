import InletCore
import InletRTSP
import Testing

/// Events while the stream plays, and its end.
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
        "Keep-alives are sent at half of the time-out",
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

    /// The way in which a session ends.
    enum End: CaseIterable, Sendable {
        case connection, silence, forgotten, teardown
    }

    @Test(
        "A session that dies at its time-out changes the method of the next, however it dies", arguments: End.allCases)
    func dies(_ end: End) throws {
        for (seconds, method) in [(20, "GET_PARAMETER"), (5, "OPTIONS"), (600, "OPTIONS")] {
            var server = try Self.playing()
            // Silence is noticed later, and an answer comes later than its request.
            server.waitForDeadline()
            let begin = server.now - .seconds(10)
            server.now = begin + .seconds(seconds)
            switch end {
            case .connection: server.handle(.disconnected)
            case .silence:
                let since = server.now
                server.now = since + .seconds(60)
                server.handle(.streamLost(since: since))
                server.handle(.close)
            case .forgotten: server.reply(454)
            case .teardown: server.handle(.request(RTSPRequest(method: Array("TEARDOWN".utf8), uri: [0x2A])))
            }
            let memory = server.session.keepAlive
            var next = try Self.playing { $0.keepAlive = memory }
            next.waitForDeadline()
            #expect(next.takeLog() == ["\(method) rtsp://cam/live"], "\(seconds) s")
        }
    }

    @Test("The end of a session is recorded once, and its life counts from the last PLAY or PAUSE")
    func life() throws {
        var server = try Self.playing()
        let before = server.session.keepAlive
        server.now = server.now + .seconds(15)
        server.handle(.pause)
        server.reply(200)
        server.now = server.now + .seconds(3)
        server.handle(.resume)
        server.reply(200)
        server.now = server.now + .seconds(5)
        server.handle(.streamLost(since: server.now))
        #expect(server.session.keepAlive == before)
        server.handle(.close)
        var late = try Self.playing()
        late.now = late.now + .seconds(20)
        late.handle(.streamLost(since: late.now))
        let once = late.session.keepAlive
        late.handle(.disconnected)
        #expect(late.session.keepAlive == once && once != before)
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

    @Test(
        "A session that ends during a pause is restarted when the pause ends",
        arguments: ["disconnected", "454", "TEARDOWN"])
    func suspended(_ end: String) throws {
        var server = try Self.playing()
        server.handle(.pause)
        server.reply(200)
        server.waitForDeadline()
        _ = server.takeLog()
        switch end {
        case "454": server.reply(454)
        case "TEARDOWN": server.handle(.request(RTSPRequest(method: Array(end.utf8), uri: [0x2A])))
        default: server.handle(.disconnected)
        }
        #expect(server.takeLog() == (end == "TEARDOWN" ? ["reply 200"] : []))
        #expect(server.session.isSuspended && server.session.deadline == .distantFuture)
        server.handle(.disconnected)
        server.handle(.timer)
        #expect(server.takeLog() == [])
        server.handle(.resume)
        #expect(server.takeLog() == ["reconnect rtsp://cam/live"])
        server.play()
        #expect(server.takeLog().suffix(2) == ["PLAY rtsp://cam/live", "playing"])
        #expect(server.failure == nil)
    }

    @Test("A session that turns out to be forgotten when the pause ends is restarted, once", arguments: [true, false])
    func forgottenInPause(_ isAnswered: Bool) throws {
        var server = try Self.playing()
        server.handle(.pause)
        server.reply(200)
        server.handle(.resume)
        _ = server.takeLog()
        if isAnswered { server.reply(454) } else { server.handle(.disconnected) }
        #expect(server.takeLog() == ["reconnect rtsp://cam/live"])
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        #expect(server.header("Session") == nil)
        server.reply(200, [("Session", "other")])
        server.reply(454)
        #expect(server.failure?.code == .sessionLost)
    }

    @Test func suspendedSessionCloses() throws {
        var server = try Self.playing()
        server.handle(.pause)
        server.reply(200)
        server.handle(.disconnected)
        _ = server.takeLog()
        server.handle(.close)
        #expect(server.takeLog() == ["close"])
        #expect(server.session.isClosed)
    }

    @Test func pauseBehindARedirectionWaitsForItsEnd() throws {
        var server = try Self.playing()
        server.handle(.pause)
        server.reply(200)
        server.handle(Self.redirect("rtsp://other/x"))
        #expect(server.takeLog().suffix(2) == ["reply 200", "TEARDOWN rtsp://cam/live"])
        server.handle(.resume)
        #expect(server.takeLog() == ["reconnect rtsp://other/x"])
    }

    // MARK: Requests of the server

    private static func request(_ method: String, body: String = "") -> RTSPSession.Event {
        .request(
            RTSPRequest(
                method: Array(method.utf8), uri: [0x2A], headers: RTSPHeaders([("CSeq", "5")]), body: Array(body.utf8)))
    }

    private static func redirect(_ location: String?) -> RTSPSession.Event {
        var headers = RTSPHeaders([("CSeq", "5")])
        if let location { headers.append("Location", location) }
        return .request(RTSPRequest(method: Array("REDIRECT".utf8), uri: [0x2A], headers: headers))
    }

    @Test func requestsOfTheServerAreAnswered() throws {
        for (method, body, expected) in [
            ("OPTIONS", "", 200), ("GET_PARAMETER", "", 200), ("GET_PARAMETER", "jitter", 501),
            ("SET_PARAMETER", "", 501), ("FOO", "", 501), ("ANNOUNCE", "", 200), ("PLAY", "", 501),
        ] {
            var server = try Self.playing()
            server.handle(Self.request(method, body: body))
            #expect(server.takeLog() == ["reply \(expected)"])
        }
    }

    @Test func redirectionByRequestIsFollowed() throws {
        var server = try Self.playing()
        server.handle(Self.redirect("rtsp://other:8554/x"))
        #expect(server.takeLog() == ["reply 200", "TEARDOWN rtsp://cam/live", "reconnect rtsp://other:8554/x"])
        server.handle(.connected)
        #expect(server.takeLog() == ["DESCRIBE rtsp://other:8554/x"])
        #expect(server.header("Session") == nil)
    }

    @Test func redirectionByRequestIsAsBoundedAsOneByStatus() throws {
        var none = try Self.playing()
        none.handle(Self.redirect(nil))
        #expect(none.takeLog() == ["reply 400"])
        var opening = try ScriptedServer()
        opening.handle(.connected)
        _ = opening.takeLog()
        opening.handle(Self.redirect("rtsp://other/x"))
        #expect(opening.takeLog() == ["reply 455"])
        var secure = try ScriptedServer("rtsps://cam/live")
        secure.play()
        secure.handle(Self.redirect("rtsp://cam/live"))
        #expect(secure.failure?.code == .tlsFailed)
        // Two servers that redirect to each other, at once or after a while.
        for (seconds, isEndless) in [(1, false), (60, true)] {
            var server = try ScriptedServer { $0.mostRedirects = 3 }
            for _ in 0..<10 where server.failure == nil {
                server.play()
                server.now = server.now + .seconds(seconds)
                server.handle(Self.redirect("rtsp://cam/other"))
            }
            #expect((server.failure == nil) == isEndless)
        }
    }

    @Test func credentialsStayBehindWhereARequestLeadsElsewhere() throws {
        for (location, isSent) in [("rtsp://cam/other", true), ("rtsp://other/x", false)] {
            var server = try ScriptedServer("rtsp://u:p@cam/live")
            server.play()
            server.handle(Self.redirect(location))
            server.handle(.connected)
            server.reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")])
            #expect((server.header("Authorization") != nil) == isSent)
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

    @Test(
        "A close between SETUP and its answer waits for the number of the session, to end it",
        arguments: [(200, true), (403, true), (461, false), (401, false)])
    func closeDuringSetup(_ status: Int, _ hasSession: Bool) throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        _ = server.takeLog()
        server.handle(.close)
        #expect(server.takeLog() == [] && server.session.isAbandoningSetup)
        #expect(server.session.deadline == server.now + .milliseconds(150))
        server.reply(status, hasSession ? [("Session", "AB;timeout=9")] : [])
        #expect(server.takeLog() == (hasSession ? ["TEARDOWN rtsp://cam/live"] : ["close"]))
        guard hasSession else { return }
        #expect(server.header("Session") == "AB")
        server.reply(200)
        #expect(server.takeLog() == ["close"])
    }

    @Test func setupThatTimesOutIsWaitedForToo() throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        server.waitForDeadline()
        #expect(server.takeLog().last == "fail timedOut" && server.session.isAbandoningSetup)
        server.reply(200, [("Session", "late")])
        #expect(server.takeLog() == ["TEARDOWN rtsp://cam/live"])
        var mute = try ScriptedServer()
        mute.handle(.connected)
        mute.reply(200, body: ScriptedServer.sdp)
        mute.handle(.close)
        mute.waitForDeadline()
        #expect(mute.takeLog().last == "close" && mute.session.isClosed)
    }
}
