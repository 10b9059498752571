#if WebRTC
    import InletCore
    import InletRTC
    import ReferenceTools
    import Testing
    import WebRTCSink

    /// Data channels of each delivery, and messages of each length, with aiortc at the other end.
    @Suite(
        .tags(.browser), .serialized, .timeLimit(.minutes(5)),
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    struct ChannelPeerTests {
        private static let channels = [
            DataChannelParameters("orders"), DataChannelParameters("any", .unordered),
            DataChannelParameters("retries", .retransmits(3)),
            DataChannelParameters("timed", .lifetime(.milliseconds(1500), isOrdered: true)),
        ]

        /// Returns what the peer says of a message: the message, or its length and check if it is longer than this
        /// side takes.
        private static func reply(to body: InletRTC.PeerMessage.Body) -> InletRTC.PeerMessage.Body {
            guard body.count > 65_536 else { return body }
            func text(_ type: String, _ bytes: some Collection<UInt8>) -> InletRTC.PeerMessage.Body {
                let check = bytes.enumerated().reduce(0) { $0 + ($1.offset + 1) * Int($1.element) }
                return .text("\(type) \(bytes.count) \(check % (1 << 32))")
            }
            return switch body {
            case .text(let content): text("str", Array(content.utf8))
            case .binary(let bytes): text("bytes", bytes)
            }
        }

        /// Reads events until all channels are open.
        private static func open(_ events: inout AsyncStream<PeerSessionEvent>.Iterator) async {
            var missing = Set(channels)
            while !missing.isEmpty, let event = await events.next() {
                if case .channelOpened(let channel) = event { missing.remove(channel) }
            }
            #expect(missing.isEmpty)
        }

        @Test("A peer sees each delivery, and messages come back as they were, empty ones and the longest")
        func deliveries() async throws {
            try await SignalingPeerTests.with(.asSent, .offering, channels: Self.channels) { channel, session in
                var events = session.events().makeAsyncIterator()
                var heard = session.messages().makeAsyncIterator()
                await Self.open(&events)
                let longest = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
                let bodies: [InletRTC.PeerMessage.Body] = [
                    .text(""), .binary([]), .text("one"), .binary(Array(longest.prefix(65_536))),
                    .text(String(repeating: "ü", count: 32_768)), .binary(longest),
                    .text(String(repeating: "ü", count: 100_000)),
                ]
                for each in Self.channels {
                    for body in bodies {
                        try session.send(body, over: each.delivery, labelled: each.label)
                        let message = InletRTC.PeerMessage(
                            peer: "test", channel: each.label, body: Self.reply(to: body))
                        #expect(await heard.next() == message, "\(each.label) \(body.count)")
                    }
                }
                for each in Self.channels {
                    drained: while let event = await events.next() {
                        if case .channelDrained(each) = event { break drained }
                    }
                }
                let tooLong = #expect(throws: InletError.self) { try session.send(.binary(longest + [0])) }
                #expect(tooLong?.code == .resourceExhausted)
                #expect(session.statistics.messagesSent == 28 && session.statistics.messagesDropped == 0)
                guard case .list(let seen) = try await channel.ask("report")["channels"] else {
                    Issue.record("The peer reports no channels.")
                    return
                }
                func facts(
                    _ label: String, ordered: Bool, retransmits: PeerValue = .null, lifetime: PeerValue = .null
                ) -> PeerValue {
                    .object([
                        "label": .string(label), "ordered": .bool(ordered), "maxRetransmits": retransmits,
                        "maxPacketLifeTime": lifetime,
                    ])
                }
                let expected = [
                    facts("orders", ordered: true), facts("any", ordered: false),
                    facts("retries", ordered: false, retransmits: .number(3)),
                    facts("timed", ordered: true, lifetime: .number(1500)),
                ]
                #expect(seen.count == 4 && expected.allSatisfy { seen.contains($0) }, "\(seen)")
            }
        }

        @Test("A message that is longer than the peer accepts is an error in words, and the channel goes on")
        func limits() async throws {
            try await SignalingPeerTests.with(.peerLate, .offering, channels: Self.channels) { channel, session in
                var events = session.events().makeAsyncIterator()
                var heard = session.messages().makeAsyncIterator()
                try await channel.bringPeer { _ = try $0.send("limit", ["bytes": .number(10_000)]) }
                await Self.open(&events)
                let error = #expect(throws: InletError.self) {
                    try session.send(.binary([UInt8](repeating: 1, count: 10_001)))
                }
                #expect(error?.code == .resourceExhausted)
                #expect(error?.message.contains("10000 bytes, not 10001") == true)
                let allowed = InletRTC.PeerMessage.Body.binary([UInt8](repeating: 2, count: 10_000))
                try session.send(allowed)
                #expect(await heard.next()?.body == allowed)
            }
        }
    }
#endif
