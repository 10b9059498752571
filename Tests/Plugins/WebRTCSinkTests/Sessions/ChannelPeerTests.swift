#if GStreamer
import InletCore
import InletRTC
import ReferenceTools
import Testing
import WebRTCSink

/// Data channels of each delivery, and messages of each length, with aiortc at the other end.
@Suite(
    .tags(.rtcPeer), .serialized, .timeLimit(.minutes(5)),
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct ChannelPeerTests {
    private static let channels = [
        DataChannelParameters("orders"), DataChannelParameters("any", .unordered),
        DataChannelParameters("retries", .retransmits(3)),
        DataChannelParameters("timed", .lifetime(.milliseconds(1500), isOrdered: true)),
    ]

    /// Returns the peer's reply to a message: the message, or its length and checksum if it exceeds this side's
    /// limit.
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
    private static func open(
        _ channels: [DataChannelParameters], _ events: inout AsyncStream<PeerSessionEvent>.Iterator
    ) async {
        var missing = Set(channels)
        while !missing.isEmpty, let event = await events.next() {
            if case .channelOpened(let channel) = event { missing.remove(channel) }
        }
        #expect(missing.isEmpty)
    }

    @Test("A peer sees each delivery, and messages return unchanged, including empty ones and the longest")
    func deliveries() async throws {
        try await SignalingPeerTests.with(.asSent, .offering, channels: Self.channels) { channel, session in
            var events = session.events().makeAsyncIterator()
            var heard = session.messages().makeAsyncIterator()
            await Self.open(Self.channels, &events)
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

    @Test("A message longer than the peer accepts has a clear error, and the channel continues")
    func limits() async throws {
        try await SignalingPeerTests.with(.peerLate, .offering, channels: Self.channels) { channel, session in
            var events = session.events().makeAsyncIterator()
            var heard = session.messages().makeAsyncIterator()
            try await channel.bringPeer { _ = try $0.send("limit", ["bytes": .number(10_000)]) }
            await Self.open(Self.channels, &events)
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

    /// A path that loses packets, and the messages that the peer receives over it.
    private struct LossyPath {
        let channel: CommandChannel
        let session: any PeerSession
        private(set) var heard: [String: [Int]] = [:]
        private(set) var lost = 0

        init(_ channel: CommandChannel, _ session: any PeerSession) {
            (self.channel, self.session) = (channel, session)
        }

        /// Makes the path lose this percentage of the datagrams with messages, until this number is lost.
        func lose(_ count: Int, percent: Double) async throws {
            try await channel.ask("lose", ["percent": .number(percent), "count": .number(Double(count))])
        }

        /// Sends a number in a message that fills a datagram.
        func send(_ number: Int, over each: DataChannelParameters) throws {
            let text = "\(number) " + String(repeating: "x", count: 900)
            try session.send(.text(text), over: each.delivery, labelled: each.label)
        }

        /// Waits until a condition holds for the received messages and the losses.
        mutating func wait(_ what: Comment, until isSo: (LossyPath) throws -> Bool) async throws {
            for _ in 0..<6000 {
                let seen = try await channel.ask("heard")
                lost = seen["lost"]?.int ?? 0
                guard case .object(let lists) = seen["numbers"] else { continue }
                heard = lists.mapValues { list in
                    guard case .list(let numbers) = list else { return [] }
                    return numbers.compactMap(\.int)
                }
                if try isSo(self) { return }
                try await Task.sleep(for: .milliseconds(5))
            }
            Issue.record("\(what): heard \(heard), lost \(lost)")
        }
    }

    private static let reliable = [
        DataChannelParameters("ordered"), DataChannelParameters("unordered", .unordered),
    ]
    private static let lossy = DataChannelParameters("never", .lossy)
    private static let once = DataChannelParameters("once", .retransmits(1, isOrdered: true))
    private static let timed = DataChannelParameters("timed", .lifetime(.milliseconds(100), isOrdered: true))

    @Test("On a lossy path everything arrives on reliable channels, and messages without retransmits do not")
    func losses() async throws {
        let all = Self.reliable + [Self.lossy]
        try await SignalingPeerTests.with(.asSent, .offering, channels: all, peer: ["--link"]) { channel, session in
            var events = session.events().makeAsyncIterator()
            await Self.open(all, &events)
            var path = LossyPath(channel, session)
            // Loses one for certain; the seed decides about the others.
            try await path.lose(1, percent: 100)
            try path.send(0, over: Self.lossy)
            try await path.wait("the first loss") { $0.lost == 1 }
            let numbers = Array(1...30)
            try await path.lose(10, percent: 20)
            for number in numbers { for each in all { try path.send(number, over: each) } }
            try await path.wait("all") { path in
                Self.reliable.allSatisfy { path.heard[$0.label]?.count ?? 0 >= numbers.count }
            }
            #expect(path.heard["ordered"] == numbers && path.heard["unordered"]?.sorted() == numbers)
            #expect(path.lost == 11)
            try path.send(31, over: Self.lossy)
            try await path.wait("the next") { $0.heard["never"]?.last == 31 }
            let arrived = path.heard["never"] ?? []
            #expect(!arrived.contains(0) && Set(arrived).count == arrived.count, "\(arrived)")
            #expect(session.state == .connected && session.statistics.messagesDropped == 0)
        }
    }

    @Test("A message is dropped after its retransmits or its lifetime, and those after it arrive in order")
    func givenUp() async throws {
        let all = [Self.reliable[0], Self.once, Self.timed]
        try await SignalingPeerTests.with(.asSent, .offering, channels: all, peer: ["--link"]) { channel, session in
            var events = session.events().makeAsyncIterator()
            await Self.open(all, &events)
            var path = LossyPath(channel, session)
            // Loses the message and its retransmission.
            try await path.lose(2, percent: 100)
            try path.send(0, over: Self.once)
            try await path.wait("the second loss") { $0.lost == 2 }
            try path.send(1, over: Self.once)
            try await path.wait("the next") { !($0.heard["once"] ?? []).isEmpty }
            #expect(path.heard["once"] == [1])
            // Only the reliable message is sent again: the lifetime of the other has expired by then.
            try await path.lose(2, percent: 100)
            try path.send(0, over: Self.timed)
            try path.send(0, over: Self.reliable[0])
            try await path.wait("what loses nothing") { $0.heard["ordered"] == [0] }
            #expect(path.lost == 4)
            // A message that waits on this machine longer than its lifetime is also dropped.
            for number in 1...100 where (path.heard["timed"] ?? []).isEmpty {
                try path.send(number, over: Self.timed)
                try path.send(number, over: Self.reliable[0])
                try await path.wait("what loses nothing") { $0.heard["ordered"]?.last == number }
            }
            #expect(path.heard["timed"]?.first ?? 0 > 0, "\(path.heard)")
            #expect(session.state == .connected && session.statistics.messagesDropped == 0)
        }
    }
}
#endif
