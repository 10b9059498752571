import InletCore
import InletRTSP
import Testing

@Suite struct RTSPSessionOpeningTests {
    @Test func opensWithThreeRequests() throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        #expect(server.takeLog() == ["DESCRIBE rtsp://cam/live"])
        #expect(server.header("CSeq") == "1")
        #expect(server.header("Accept") == "application/sdp")
        #expect(server.header("User-Agent") == "Inlet")
        server.reply(200, [("Content-Base", "rtsp://cam/live/")], body: ScriptedServer.sdp)
        #expect(server.takeLog() == ["SETUP rtsp://cam/live/track1"])
        #expect(server.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=0-1")
        #expect(server.header("Session") == nil)
        server.reply(200, [("Session", "AB;timeout=30"), ("Transport", "RTP/AVP/TCP;interleaved=8-9;ssrc=0a0b0c0d")])
        #expect(server.takeLog() == ["established", "PLAY rtsp://cam/live/"])
        #expect(server.header("Session") == "AB")
        #expect(server.header("Range") == "npt=0.000-")
        #expect(server.established?.channels == [8, 9])
        #expect(server.established?.transport.ssrc == 0x0A0B_0C0D)
        #expect(server.established?.video.codec == .h264)
        server.reply(
            200, [("RTP-Info", "url=rtsp://cam/live/track0;seq=1, url=rtsp://cam/live/track1;seq=7;rtptime=9")])
        #expect(server.takeLog() == ["playing"])
        #expect(server.playing?.info?.sequence == 7)
    }

    @Test func answerToPlayMayBeMissingIfPacketsCome() throws {
        for hasMedia in [true, false] {
            var server = try ScriptedServer()
            server.handle(.connected)
            server.reply(200, body: ScriptedServer.sdp)
            server.reply(200, [("Session", "1")])
            if hasMedia { server.handle(.mediaArrived) }
            _ = server.takeLog()
            server.waitForDeadline()
            #expect(server.takeLog().first == (hasMedia ? "playing" : "fail timedOut"))
        }
    }

    @Test func secondAddressIsTriedWhenTheFirstIsRefused() throws {
        for status in [400, 404, 451, 455, 503] {
            var server = try ScriptedServer("rtsp://cam/a/b?x=1")
            server.handle(.connected)
            server.reply(200, body: ScriptedServer.sdp)
            #expect(server.takeLog().last == "SETUP rtsp://cam/a/b?x=1/track1")
            server.reply(status, [("Session", "refused")])
            #expect(server.takeLog() == ["SETUP rtsp://cam/a/track1"])
            #expect(server.header("Session") == nil)
            server.reply(status)
            #expect(server.takeLog().first?.hasBytePrefix("fail") == true)
            #expect(server.session.isClosed)
        }
    }

    @Test func refusedTransportLeadsToTheNextWithAFreshDescription() throws {
        var server = try ScriptedServer { $0.transports = [.udp, .tcp] }
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        #expect(server.takeLog() == ["DESCRIBE rtsp://cam/live", "openPorts"])
        server.handle(.portsOpened(.init(5000, 5001)))
        #expect(server.takeLog() == ["SETUP rtsp://cam/live/track1"])
        #expect(server.header("Transport") == "RTP/AVP;unicast;client_port=5000-5001")
        server.reply(461)
        #expect(server.takeLog() == ["closePorts", "DESCRIBE rtsp://cam/live"])
        server.reply(200, body: ScriptedServer.sdp)
        #expect(server.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=0-1")
        server.reply(461)
        #expect(server.failure?.code == .unsupported)
    }

    @Test(arguments: [400, 451, 461, 500])
    func theProfileOfTheDescriptionIsRequestedAndThenTheOneThatEveryServerKnows(_ status: Int) throws {
        let sdp = "v=0\nm=video 0 RTP/AVPF 96\na=rtpmap:96 H264/90000\na=control:t\n"
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(200, body: sdp)
        #expect(server.header("Transport") == "RTP/AVPF/TCP;unicast;interleaved=0-1")
        server.reply(status)
        #expect(server.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=0-1")
        server.reply(200, [("Session", "1"), ("Transport", "RTP/AVP/TCP;unicast;interleaved=0-1")])
        server.reply(200)
        #expect(server.playing != nil)
    }

    @Test func silentDatagramsLeadToTheNextTransportOnANewConnection() throws {
        var server = try ScriptedServer { $0.transports = [.udp, .tcp] }
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        server.handle(.portsOpened(.init(5000, 5001)))
        server.reply(200, [("Session", "1"), ("Transport", "RTP/AVP;unicast;client_port=5000-5001;server_port=6-7")])
        server.reply(200)
        #expect(server.established?.transport.serverPorts == .init(6, 7))
        _ = server.takeLog()
        server.handle(.transportSilent)
        #expect(server.takeLog() == ["closePorts", "TEARDOWN rtsp://cam/live"])
        server.handle(.disconnected)
        #expect(server.takeLog() == ["reconnect rtsp://cam/live"])
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        #expect(server.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=0-1")
        #expect(server.header("Session") == nil)
    }

    @Test("A session with too much loss continues over TCP; if the server refuses, it returns to UDP for good")
    func losses() throws {
        for (transports, refused) in [([.udp, .tcp], false), ([.multicast, .udp, .tcp], true)]
            as [([RTSPSessionConfiguration.Transport], Bool)]
        {
            var server = try ScriptedServer { $0.transports = transports }
            server.handle(.connected)
            server.reply(200, body: ScriptedServer.sdp)
            #expect(!server.session.mayContinueOverTCP, "there is nothing to leave yet")
            if transports[0] == .multicast { server.reply(461) }
            server.handle(.connected)
            server.reply(200, body: ScriptedServer.sdp)
            server.handle(.portsOpened(.init(5000, 5001)))
            server.reply(200, [("Session", "1"), ("Transport", "RTP/AVP;unicast;client_port=5000-5001")])
            server.reply(200)
            #expect(server.session.mayContinueOverTCP)
            _ = server.takeLog()
            server.handle(.transportLossy)
            #expect(server.takeLog() == ["closePorts", "TEARDOWN rtsp://cam/live"])
            server.handle(.transportLossy)
            #expect(server.takeLog() == [], "it is on its way")
            server.reply(200)
            server.handle(.connected)
            server.reply(200, body: ScriptedServer.sdp)
            #expect(server.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=0-1")
            server.reply(refused ? 461 : 200, [("Session", "2")])
            if refused {
                server.handle(.connected)
                server.reply(200, body: ScriptedServer.sdp)
                #expect(server.header("Transport") == "RTP/AVP;multicast")
                server.reply(461)
                server.handle(.connected)
                server.reply(200, body: ScriptedServer.sdp)
                server.handle(.portsOpened(.init(5000, 5001)))
                server.reply(200, [("Session", "3"), ("Transport", "RTP/AVP;unicast;client_port=5000-5001")])
            }
            server.reply(200)
            #expect(server.established?.transport.delivery == (refused ? .unicast : .tcp))
            #expect(server.failure == nil && !server.session.mayContinueOverTCP)
            _ = server.takeLog()
            server.handle(.transportLossy)
            #expect(server.takeLog() == [])
        }
        var server = try ScriptedServer { $0.transports = [.udp] }
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        server.handle(.portsOpened(.init(5000, 5001)))
        server.reply(200, [("Session", "1"), ("Transport", "RTP/AVP;unicast;client_port=5000-5001")])
        server.reply(200)
        _ = server.takeLog()
        server.handle(.transportLossy)
        #expect(server.takeLog() == [] && !server.session.mayContinueOverTCP)
    }

    @Test func groupComesFromTheReplyOrTheDescription() throws {
        let sdp = "v=0\nm=video 4000 RTP/AVP 96\nc=IN IP4 239.1.2.3/16\na=rtpmap:96 H264/90000\na=control:t\n"
        for (reply, group, port) in [
            ("RTP/AVP;multicast;destination=224.5.6.7;port=7000-7001;ttl=3", "224.5.6.7", 7000),
            ("RTP/AVP;multicast", "239.1.2.3", 4000),
        ] {
            var server = try ScriptedServer { $0.transports = [.multicast] }
            server.handle(.connected)
            server.reply(200, body: sdp)
            #expect(server.header("Transport") == "RTP/AVP;multicast")
            server.reply(200, [("Session", "1"), ("Transport", reply)])
            #expect(server.established?.transport.destination == Array(group.utf8))
            #expect(server.established?.transport.ports?.rtp == port)
        }
    }

    @Test func playIsRepeatedWithoutRangeIfTheRangeIsRefused() throws {
        for status in [457, 400] {
            var server = try ScriptedServer()
            server.handle(.connected)
            server.reply(200, body: ScriptedServer.sdp)
            server.reply(200, [("Session", "1")])
            _ = server.takeLog()
            server.reply(status)
            #expect(server.takeLog() == ["PLAY rtsp://cam/live"])
            #expect(server.header("Range") == nil)
            server.reply(status)
            #expect(server.takeLog() == ["fail unsupported", "TEARDOWN rtsp://cam/live"])
        }
    }

    @Test(
        "A description without a usable video is an error that states so",
        arguments: [
            ("", InletError.Code.malformedData), ("v=0\nm=audio 0 RTP/AVP 0\n", .unsupported),
            ("m=video 0 RTP/SAVP 96\na=rtpmap:96 H264/90000\n", .unsupported),
            ("m=video 0 RTP/AVP 96\na=rtpmap:96 x-asf-pf/1000\n", .unsupported),
        ])
    func unusable(_ sdp: String, _ code: InletError.Code) throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(200, body: sdp)
        #expect(server.failure?.code == code)
        #expect(server.takeLog().last == "close")
    }

    private static let statuses: [(Int, InletError.Code, Duration?)] = [
        (403, .authenticationFailed, nil), (404, .notFound, nil), (453, .noBandwidth, .seconds(2)),
        (503, .serverUnavailable, .seconds(2)), (500, .serverUnavailable, nil), (501, .unsupported, nil),
    ]

    @Test("Each status has its own error, and a server without room is left alone for a while", arguments: statuses)
    func status(_ status: Int, _ code: InletError.Code, _ retryAfter: Duration?) throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(status)
        #expect(server.failure?.code == code)
        #expect(server.failure?.retryAfter == retryAfter)
        #expect(server.session.isClosed)
    }

    @Test(
        "A server states how long the client must wait",
        arguments: [
            (453, "7", .seconds(7)), (503, " 30 ", .seconds(30)), (500, "1", .seconds(1)), (503, "0", .zero),
            (503, "99999999999999999999999", .seconds(3600)), (503, "4000000000", .seconds(3600)),
            (503, "-5", .seconds(2)), (503, "5 s", .seconds(2)), (503, "", .seconds(2)),
            (453, "Thu, 23 Jan 1997 15:35:06 GMT", .seconds(2)), (500, "soon", nil),
        ] as [(Int, String, Duration?)])
    func retryAfter(_ status: Int, _ value: String, _ expected: Duration?) throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        server.reply(status, [("Retry-After", value)])
        #expect(server.failure?.retryAfter == expected)
    }

    @Test func wrongNumberIsIgnoredAndAMissingOneMeansTheNewestRequest() throws {
        var server = try ScriptedServer()
        server.handle(.connected)
        _ = server.takeLog()
        server.reply(to: nil, 200, [("CSeq", "99")], body: ScriptedServer.sdp)
        #expect(server.takeLog() == [])
        server.reply(to: nil, 200, body: ScriptedServer.sdp)
        #expect(server.takeLog() == ["SETUP rtsp://cam/live/track1"])
    }

    @Test func refusedSetupWithASessionIsTornDown() throws {
        var server = try ScriptedServer("rtsp://cam")
        server.handle(.connected)
        server.reply(200, body: ScriptedServer.sdp)
        server.reply(403, [("Session", "9")])
        #expect(server.takeLog().suffix(2) == ["fail authenticationFailed", "TEARDOWN rtsp://cam"])
        #expect(server.header("Session") == "9")
        server.reply(454)
        #expect(server.takeLog() == ["close"])
    }

    @Test func serverThatNeverAnswersTimesOut() throws {
        var server = try ScriptedServer { $0.responseTimeout = .seconds(2) }
        server.handle(.connected)
        #expect(server.session.deadline == server.now + .seconds(2))
        server.handle(.timer)
        #expect(server.failure == nil)
        server.waitForDeadline()
        #expect(server.failure?.code == .timedOut)
        #expect(server.takeLog().last == "close")
    }
}
