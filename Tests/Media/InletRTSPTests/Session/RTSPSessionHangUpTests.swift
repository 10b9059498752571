import InletCore
import InletRTSP
import Testing

/// Servers that answer a keep-alive by closing the connection.
@Suite struct RTSPSessionHangUpTests {
    private static func playing(_ memory: KeepAliveMemory) throws -> ScriptedServer {
        var server = try ScriptedServer("rtsp://cam/live") { $0.keepAlive = memory }
        server.play(sessionHeader: "AB;timeout=60")
        _ = server.takeLog()
        return server
    }

    @Test("A method for which the server closes the connection is not used again, long before the time-out")
    func closes() throws {
        var memory = KeepAliveMemory()
        var methods: [String] = []
        for _ in 0..<3 {
            var server = try Self.playing(memory)
            server.waitForDeadline()
            methods += server.takeLog()
            server.now = server.now + .milliseconds(20)
            server.handle(.disconnected)
            memory = server.session.keepAlive
        }
        #expect(methods == ["OPTIONS", "GET_PARAMETER", "SET_PARAMETER"].map { "\($0) rtsp://cam/live" })
    }

    @Test("A connection that ends later, or after the answer, proves nothing", arguments: [true, false])
    func endsLater(_ isAnswered: Bool) throws {
        var server = try Self.playing(KeepAliveMemory())
        server.waitForDeadline()
        if isAnswered { server.reply(200, [("Public", "OPTIONS")]) }
        server.now = server.now + (isAnswered ? .milliseconds(20) : .seconds(5))
        server.handle(.disconnected)
        var next = try Self.playing(server.session.keepAlive)
        next.waitForDeadline()
        #expect(next.takeLog() == ["OPTIONS rtsp://cam/live"])
    }

    @Test("A server that closes the first connection unanswered gets OPTIONS first, on each connection")
    func optionsFirst() throws {
        var server = try ScriptedServer("rtsp://cam/live")
        server.handle(.connected)
        server.handle(.disconnected)
        #expect(server.takeLog() == ["DESCRIBE rtsp://cam/live", "reconnect rtsp://cam/live"])
        server.handle(.connected)
        server.reply(501)
        #expect(server.takeLog() == ["OPTIONS rtsp://cam/live", "DESCRIBE rtsp://cam/live"])
        #expect(server.session.optionsMemory)
        // After an answer the end of the connection has another reason.
        server.handle(.disconnected)
        #expect(server.failure?.code == .disconnected)
        var next = try ScriptedServer("rtsp://cam/live") { $0.beginsWithOptions = true }
        next.handle(.connected)
        #expect(next.takeLog() == ["OPTIONS rtsp://cam/live"])
        // It was not such a server, or is no longer.
        next.handle(.disconnected)
        #expect(next.failure?.code == .disconnected && !next.session.optionsMemory)
    }
}
