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
            _ order: CommandChannel.Order, _ role: PeerSessionPolicy.Role,
            _ body: (CommandChannel, any PeerSession) async throws -> Void
        ) async throws {
            let publisher = PeerPublisher { FFmpegVideoEncoder() }
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

        /// Waits until the peer has read so many further numbers, or has not for 20,000 looks.
        static func pictures(_ count: Int, by channel: CommandChannel) async throws {
            var seen = try await channel.ask("report")
            let wanted = (seen["count"]?.int ?? 0) + count
            for _ in 0..<20_000 where (seen["count"]?.int ?? 0) < wanted { seen = try await channel.ask("report") }
            #expect((seen["count"]?.int ?? 0) >= wanted)
            #expect(seen["unread"]?.int == 0)
        }

        @Test(
            "We offer: pictures arrive in whatever order messages do, again after a restart, and the peer is told of the end",
            arguments: CommandChannel.Order.allCases)
        func offering(_ order: CommandChannel.Order) async throws {
            try await Self.with(order, .offering) { channel, session in
                let events = session.events()
                if order == .peerLate { try await channel.bringPeer() }
                try await Self.pictures(20, by: channel)
                #expect(session.state == .connected)
                if order == .asSent {
                    session.restart()
                    try await Self.pictures(20, by: channel)
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
                try await Self.pictures(20, by: channel)
                try await channel.ask("offer")
                try await Self.pictures(20, by: channel)
                #expect(session.state == .connected)
            }
        }
    }
#endif
