#if GStreamer
import FFmpegSink
import InletCapture
import InletCore
import InletRTC
import PatternSource
import ReferenceTools
import Testing
import WebRTCSink

/// Data channels of a publisher, with an aiortc server.
@Suite(
    .tags(.rtcPeer), .serialized, .timeLimit(.minutes(3)),
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct WHIPMessageTests {
    private static let orders = DataChannelParameters("orders")
    private static let timecode = DataChannelParameters("timecode", .lossy)

    /// Publishes while `body` runs.
    private static func publish(
        _ url: String, _ channels: [DataChannelParameters],
        _ body: (
            PeerMessaging, inout AsyncStream<PeerMessaging.Event>.Iterator,
            inout AsyncStream<InletRTC.PeerMessage>.Iterator
        ) async throws -> Void
    ) async throws {
        var sink = WHIPSinkConfiguration(url) { FFmpegVideoEncoder() }
        sink.backOff = .milliseconds(100)
        sink.openedChannels = channels
        sink.channels.messageBytes = 100_000
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(30)))
        capturer.attach(sink)
        var events = sink.messaging.events.makeAsyncIterator()
        var heard = sink.messaging.messages.makeAsyncIterator()
        async let outcome = capturer.run()
        do {
            try await body(sink.messaging, &events, &heard)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
        // The peer is gone.
        #expect(sink.messaging.peer == nil)
        let error = #expect(throws: InletError.self) { try sink.messaging.send(.text("late")) }
        #expect(error?.code == .notFound)
    }

    /// Reads events until channels of these labels are open.
    private static func open(
        _ labels: Set<String>, _ events: inout AsyncStream<PeerMessaging.Event>.Iterator
    ) async {
        var missing = labels
        while !missing.isEmpty, let event = await events.next() {
            if case .channelOpened(let channel) = event.event { missing.remove(channel.label) }
        }
        #expect(missing.isEmpty)
    }

    @Test("Messages go both ways next to the picture, also over the server's channel, and in the next session")
    func messages() async throws {
        let server = try await aside { try WHIPServer(python: ViewerRun.aiortcPython) }
        defer { server.stop() }
        try await Self.publish(server.address + "/whip", [Self.orders, Self.timecode]) { messaging, events, heard in
            await Self.open(["orders", "timecode", "server"], &events)
            let welcome = try #require(await heard.next())
            #expect(welcome.channel == "server" && welcome.body == .text("welcome"))
            #expect(welcome.peer == messaging.peer)
            let bodies: [InletRTC.PeerMessage.Body] = [
                .text(""), .text("größer"), .binary([]), .binary(Array(repeating: 7, count: 60_000)),
            ]
            for channel in [Self.orders, Self.timecode] {
                // A long message may lose a packet, which is not sent again.
                for body in bodies.prefix(channel == Self.timecode ? 3 : bodies.count) {
                    try messaging.send(body, over: channel.delivery, labelled: channel.label, to: welcome.peer)
                    let reply = await heard.next()
                    #expect(reply?.channel == channel.label && reply?.body == body)
                }
            }
            try messaging.send(.text("over yours"), labelled: "server")
            try messaging.send(.text("nobody"), labelled: "none")
            let tooLong = #expect(throws: InletError.self) {
                try messaging.send(.binary(Array(repeating: 0, count: 100_001)))
            }
            #expect(tooLong?.code == .resourceExhausted)
            let other = #expect(throws: InletError.self) { try messaging.send(.text("you"), to: "other") }
            #expect(other?.code == .notFound)
            let seen = try await aside { try server.pictures(10) }
            #expect(seen.count >= 10 && seen.unread == 0 && seen.sessions == 1)
            #expect(seen.heard == [.string("over yours")])
            func facts(_ label: String, ordered: Bool, retransmits: PeerValue) -> PeerValue {
                .object([
                    "label": .string(label), "ordered": .bool(ordered), "maxRetransmits": retransmits,
                    "maxPacketLifeTime": .null,
                ])
            }
            #expect(seen.channels.count == 2)
            #expect(seen.channels.contains(facts("orders", ordered: true, retransmits: .null)))
            #expect(seen.channels.contains(facts("timecode", ordered: false, retransmits: .number(0))))
            try await Waiting.until("the counts", progress: { messaging.counts }) {
                let counts = messaging.counts
                return counts.sent == 8 && counts.received == 8 && counts.dropped == 1
            }
            try messaging.send(.text("close"), labelled: "orders")
            closed: while let event = await events.next() {
                if case .channelClosed(Self.orders) = event.event { break closed }
            }
            // The next session reopens the channel.
            try messaging.send(.text("leave"), over: .lossy)
            await Self.open(["orders", "timecode"], &events)
            try messaging.send(.text("again"), labelled: "orders")
            while let message = await heard.next() {
                if message.channel == "orders" {
                    #expect(message.body == .text("again"))
                    break
                }
            }
            let last = try await aside { try server.pictures(5) }
            #expect(last.sessions == 2 && last.unread == 0)
        }
    }

    @Test("A server that rejects data channels gets the picture; that is reported, and messages count as dropped")
    func rejection() async throws {
        let server = try await aside { try WHIPServer(python: ViewerRun.aiortcPython) }
        defer { server.stop() }
        try await Self.publish(server.address + "/pictures", [Self.orders]) { messaging, events, _ in
            var isRejected = false
            until: while let event = await events.next() {
                switch event.event {
                case .channelsRejected: isRejected = true
                case .state(.connected): break until
                case .channelOpened, .failure: Issue.record("\(event)")
                case .state(.ended):
                    Issue.record("\(event)")
                    return
                default: break
                }
            }
            #expect(isRejected)
            let seen = try await aside { try server.pictures(10) }
            #expect(seen.count >= 10 && seen.unread == 0 && seen.sessions == 1)
            #expect(seen.channels.isEmpty)
            try messaging.send(.text("anybody?"))
            try await Waiting.until("a dropped message", progress: { messaging.counts }) {
                messaging.counts.dropped == 1
            }
        }
    }

    @Test("A sink that opens no channels offers none")
    func none() async throws {
        let server = try await aside { try WHIPServer(python: ViewerRun.aiortcPython) }
        defer { server.stop() }
        try await Self.publish(server.address + "/whip", []) { messaging, events, _ in
            while let event = await events.next() {
                if case .state(.connected) = event.event { break }
                if case .channelsRejected = event.event { Issue.record("There was nothing to reject.") }
            }
            #expect(try await aside { try server.pictures(5) }.count >= 5)
            #expect(messaging.counts == PeerMessaging.Counts())
            let offer = try await aside { try server.process.send("report")["sdp"]?.text ?? "" }
            #expect(offer.contains("m=video") && !offer.contains("m=application"))
        }
    }
}
#endif
