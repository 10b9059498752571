#if GStreamer
import FFmpegSink
import InletCapture
import InletCore
import InletRTC
import PatternSource
import ReferenceTools
import Testing
import WebRTCSink

/// Sessions with signaling by the application, with aiortc at the other end.
@Suite(
    .tags(.rtcPeer), .serialized,
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct SignalingPeerTests {
    /// Runs a capture with a session while `body` runs.
    static func with(
        _ order: CommandChannel.Order, _ role: PeerSessionPolicy.Role, channels: [DataChannelParameters] = [],
        yields: Bool = false, peer arguments: [String] = [],
        configure change: (inout PeerSessionConfiguration) -> Void = { _ in },
        _ body: (CommandChannel, any PeerSession) async throws -> Void
    ) async throws {
        let publisher = PeerPublisher(channels: channels) { FFmpegVideoEncoder() }
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(30)))
        capturer.attach(PeerSinkConfiguration(publisher))
        async let outcome = capturer.run()
        do {
            let channel = try await aside { try CommandChannel(order, python: ViewerRun.aiortcPython, arguments) }
            var policy = PeerSessionPolicy(role: role, name: "test")
            policy.trickles = true
            policy.attempts = 5
            policy.yields = yields
            try await body(channel, try publisher.connect(channel, policy, configure: change))
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    /// Waits until the peer has read this count of numbers over a connection newer than the given one, at most for
    /// 20,000 checks.
    ///
    /// - Returns: the number of the new connection.
    @discardableResult
    static func pictures(_ count: Int, by channel: CommandChannel, after connection: Int = 0) async throws -> Int {
        for _ in 0..<20_000 {
            let seen = try await channel.ask("report")
            let present = seen["connections"]?.int ?? 0
            guard present > connection, (seen["count"]?.int ?? 0) >= count else { continue }
            #expect(seen["unread"]?.int == 0)
            return present
        }
        Issue.record("The peer sees no pictures over a connection after \(connection).")
        return connection
    }

    @Test(
        "We offer: pictures arrive in any message order, also after a restart, and the peer learns of the end",
        arguments: CommandChannel.Order.allCases)
    func offering(_ order: CommandChannel.Order) async throws {
        try await Self.with(order, .offering) { channel, session in
            let events = session.events()
            if order == .peerLate { try await channel.bringPeer() }
            let first = try await Self.pictures(20, by: channel)
            #expect(session.state == .connected)
            if order == .asSent {
                session.restart()
                try await Self.pictures(20, by: channel, after: first)
            }
            session.close()
            var states: [PeerSessionState] = []
            for await case .state(let state) in events { states.append(state) }
            #expect(states.contains(.connected))
            #expect(states.last == .ended(.local))
            #expect(session.statistics.sent >= 20)
            // The bye may arrive after the state is known.
            var byes: Int?
            for _ in 0..<2000 where byes != 1 { byes = try await channel.ask("report")["byes"]?.int }
            #expect(byes == 1)
        }
    }

    @Test("The peer offers, its candidates first: pictures arrive, and again when it restarts")
    func answering() async throws {
        try await Self.with(.asSent, .answering) { channel, session in
            try await channel.ask("offer")
            let first = try await Self.pictures(20, by: channel)
            try await channel.ask("offer")
            try await Self.pictures(20, by: channel, after: first)
            #expect(session.state == .connected)
        }
    }

    /// Waits until channels can send.
    private static func open(
        _ channels: Set<DataChannelParameters>, among events: inout AsyncStream<PeerSessionEvent>.Iterator
    ) async {
        var missing = channels
        while !missing.isEmpty, let event = await events.next() {
            if case .channelOpened(let channel) = event { missing.remove(channel) }
        }
        #expect(missing.isEmpty)
    }

    @Test(
        "We offer with channels: messages go both ways, by name and by delivery, also after a restart",
        .timeLimit(.minutes(5)))
    func messages() async throws {
        let (orders, timecode) = (DataChannelParameters("orders"), DataChannelParameters("timecode", .lossy))
        try await Self.with(.asSent, .offering, channels: [orders, timecode]) { channel, session in
            var events = session.events().makeAsyncIterator()
            var heard = session.messages().makeAsyncIterator()
            for flow in 1...2 {
                await Self.open([orders, timecode], among: &events)
                for (each, body) in [
                    (orders, InletRTC.PeerMessage.Body.text("flow \(flow)")),
                    (timecode, .binary([0, 1, UInt8(flow)])),
                ] {
                    try session.send(body, over: each.delivery, labelled: each.label)
                    // The peer sends each message back.
                    #expect(
                        await heard.next() == InletRTC.PeerMessage(peer: "test", channel: each.label, body: body))
                }
                if flow == 1 { session.restart() }
            }
            #expect(session.statistics.messagesSent == 4 && session.statistics.messagesReceived == 4)
            session.close()
            #expect(await heard.next() == nil)
            guard case .list(let seen) = try await channel.ask("report")["messages"] else {
                Issue.record("The peer reports no messages.")
                return
            }
            func message(_ channel: String, arrives: Bool, _ body: String) -> PeerValue {
                .object(["channel": .string(channel), "arrives": .bool(arrives), "body": .string(body)])
            }
            #expect(
                seen == [
                    message("orders", arrives: true, "flow 1"), message("timecode", arrives: false, "000101"),
                    message("orders", arrives: true, "flow 2"), message("timecode", arrives: false, "000102"),
                ])
        }
    }

    @Test("The peer opens a channel with its offer: its messages are answered", .timeLimit(.minutes(5)))
    func hearing() async throws {
        try await Self.with(.asSent, .answering) { channel, session in
            var events = session.events().makeAsyncIterator()
            var heard = session.messages().makeAsyncIterator()
            try await channel.ask("offer")
            await Self.open([DataChannelParameters("orders")], among: &events)
            #expect(
                await heard.next() == InletRTC.PeerMessage(peer: "test", channel: "orders", body: .text("hello")))
            try session.send(.text("welcome"))
            #expect(
                await heard.next() == InletRTC.PeerMessage(peer: "test", channel: "orders", body: .text("welcome")))
            #expect(session.statistics.messagesReceived == 2)
        }
    }

    @Test("Channels that the limits forbid are refused before there is a session")
    func forbiddenChannels() throws {
        for channels in [
            (0..<9).map { DataChannelParameters("\($0)") },
            [DataChannelParameters(String(repeating: "a", count: 129))],
        ] {
            let publisher = PeerPublisher(channels: channels) { FFmpegVideoEncoder() }
            let silent = SilentChannel()
            let error = #expect(throws: InletError.self) {
                _ = try publisher.connect(silent, PeerSessionPolicy(role: .offering, name: "test"))
            }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    /// Signaling without a peer.
    private struct SilentChannel: SignalingChannel {
        let incoming = AsyncStream<SignalingMessage> { $0.finish() }
        func send(_ message: SignalingMessage) async throws(SignalingFailure) {}
        func close() async {}
    }
}
#endif
