#if WebRTC
    import FFmpegSink
    import InletCapture
    import InletCore
    import InletRTC
    import PatternSource
    import ReferenceTools
    import Testing
    import WebRTCSink

    /// Sessions whose signaling an application brings, with aiortc at the other end.
    @Suite(
        .serialized,
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    struct SignalingPeerTests {
        /// Runs a capture with a session while `body` looks at it.
        static func with(
            _ order: CommandChannel.Order, _ role: PeerSessionPolicy.Role, channels: [DataChannelParameters] = [],
            _ body: (CommandChannel, any PeerSession) async throws -> Void
        ) async throws {
            let publisher = PeerPublisher(channels: channels) { FFmpegVideoEncoder() }
            let capturer = Capturer(
                PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(30)))
            capturer.attach(PeerSinkConfiguration(publisher))
            async let outcome = capturer.run()
            do {
                let channel = try await aside { try CommandChannel(order, python: ViewerRun.aiortcPython) }
                var policy = PeerSessionPolicy(role: role, name: "test")
                policy.trickles = true
                policy.attempts = 5
                try await body(channel, try publisher.connect(channel, policy))
            } catch {
                capturer.stop()
                _ = try? await outcome
                throw error
            }
            capturer.stop()
            _ = try await outcome
        }

        /// Waits until the peer has read so many numbers over a connection that is newer than another, or has not for 20,000 looks.
        ///
        /// - Returns: the number of that connection.
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
            "We offer: pictures arrive in whatever order messages do, again after a restart, and the peer is told of the end",
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
                // Which may come after the state is known.
                var byes: Int?
                for _ in 0..<2000 where byes != 1 { byes = try await channel.ask("report")["byes"]?.int }
                #expect(byes == 1)
            }
        }

        @Test("The peer offers, its candidates first: pictures arrive, and again when it begins anew")
        func answering() async throws {
            try await Self.with(.asSent, .answering) { channel, session in
                try await channel.ask("offer")
                let first = try await Self.pictures(20, by: channel)
                try await channel.ask("offer")
                try await Self.pictures(20, by: channel, after: first)
                #expect(session.state == .connected)
            }
        }

        @Test("We offer with channels: messages go both ways, by name and by delivery, also after a restart")
        func messages() async throws {
            let channels = [DataChannelParameters("orders"), DataChannelParameters("timecode", .lossy)]
            try await Self.with(.asSent, .offering, channels: channels) { channel, session in
                let heard = session.messages()
                var connection = 0
                for flow in 1...2 {
                    connection = try await Self.pictures(10, by: channel, after: connection)
                    try await Self.exchange(with: session) { try session.send(.text("flow \(flow)")) }
                    try await Self.exchange(with: session) {
                        try session.send(.binary([0, 1, 255]), over: .lossy, labelled: "timecode")
                    }
                    if flow == 1 { session.restart() }
                }
                session.close()
                var answers: Set<InletRTC.PeerMessage> = []
                for await message in heard { answers.insert(message) }
                #expect(
                    answers == [
                        InletRTC.PeerMessage(peer: "test", channel: "orders", body: .text("flow 1")),
                        InletRTC.PeerMessage(peer: "test", channel: "orders", body: .text("flow 2")),
                        InletRTC.PeerMessage(peer: "test", channel: "timecode", body: .binary([0, 1, 255])),
                    ])
                guard case .list(let seen) = try await channel.ask("report")["messages"] else {
                    Issue.record("The peer reports no messages.")
                    return
                }
                func message(_ channel: String, arrives: Bool, _ body: String) -> PeerValue {
                    .object(["channel": .string(channel), "arrives": .bool(arrives), "body": .string(body)])
                }
                #expect(seen.contains(message("orders", arrives: true, "flow 2")))
                #expect(seen.contains(message("timecode", arrives: false, "0001ff")))
            }
        }

        /// Sends until a channel for it is open, and waits for an answer.
        private static func exchange(with session: any PeerSession, _ send: () throws -> Void) async throws {
            let before = session.statistics
            for _ in 0..<2000 where session.statistics.messagesSent == before.messagesSent {
                try send()
                try await Task.sleep(for: .milliseconds(5))
            }
            for _ in 0..<2000 where session.statistics.messagesReceived == before.messagesReceived {
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        @Test("The peer opens a channel with its offer: it is heard and answered")
        func hearing() async throws {
            try await Self.with(.asSent, .answering) { channel, session in
                var heard = session.messages().makeAsyncIterator()
                try await channel.ask("offer")
                #expect(
                    await heard.next() == InletRTC.PeerMessage(peer: "test", channel: "orders", body: .text("hello")))
                try session.send(.text("welcome"))
                // It says back what it hears.
                #expect(
                    await heard.next() == InletRTC.PeerMessage(peer: "test", channel: "orders", body: .text("welcome")))
                #expect(throws: InletError.self) { try session.send(.text("")) }
                #expect(throws: InletError.self) { try session.send(.binary([UInt8](repeating: 0, count: 65_537))) }
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

        /// Signaling with nobody.
        private struct SilentChannel: SignalingChannel {
            let incoming = AsyncStream<SignalingMessage> { $0.finish() }
            func send(_ message: SignalingMessage) async throws(SignalingFailure) {}
            func close() async {}
        }
    }
#endif
