import InletCore
import Testing

@testable import InletRTC

/// Routing by name, with peers that join in any order.
@Suite struct SignalingRouterTests {
    static let (me, ben, cy) = (name("me"), name("ben"), name("cy"))
    private static func name(_ text: String) -> PeerID {
        guard let id = try? PeerID(text) else { preconditionFailure("\(text) is no name") }
        return id
    }
    static func id(_ name: String) throws -> PeerID { try PeerID(name) }
    static func run(_ name: String) -> SignalingInstance? { try? SignalingInstance(name) }

    static func offer(_ flow: String, sdp: String = "v=0") -> SignalingMessage {
        .description(SessionDescription(kind: .offer, sdp: sdp, flow: SignalingFlow(flow)))
    }
    static func candidate(_ flow: String, _ number: Int) -> SignalingMessage {
        .candidate(ICECandidate(line: "candidate:\(number)", section: 0, flow: SignalingFlow(flow)))
    }
    static func from(_ peer: PeerID, _ message: SignalingMessage, _ instance: String? = nil) -> SignalingEnvelope {
        SignalingEnvelope(from: peer, to: me, instance: instance.flatMap(run), .session(message))
    }

    static func router(hasPresence: Bool = true, limits: SignalingRouter.Limits = .init()) -> SignalingRouter {
        SignalingRouter(localID: me, hasPresence: hasPresence, limits: limits)
    }

    /// Returns actions as text, for tables.
    static func words(_ actions: [SignalingRouter.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .tell(.opened(let peers)): "opened \(peers)"
            case .tell(.interrupted): "interrupted"
            case .tell(.joined(let peer)): "joined \(peer)"
            case .tell(.left(let peer)): "left \(peer)"
            case .tell(.reset(let peer)): "reset \(peer)"
            case .tell(.sessionRequested(let peer)): "requested \(peer)"
            case .tell(.call(let message, let peer)): "call \(message.content) \(peer)"
            case .tell(.closed): "closed"
            case .deliver(let message, let channel): "\(channel) gets \(word(message))"
            case .finish(let channel): "\(channel) ends"
            case .transmit(let envelope):
                if case .session(let message) = envelope.content {
                    "to \(envelope.to?.description ?? "all"): \(word(message))"
                } else {
                    "to \(envelope.to?.description ?? "all"): a call"
                }
            }
        }
    }

    static func word(_ message: SignalingMessage) -> String {
        switch message {
        case .description(let it): "\(it.kind) \(it.flow)"
        case .candidate(let it): "\(it.line) \(it.flow)"
        case .bye(let flow): "bye \(flow?.description ?? "-")"
        }
    }

    @Test("Messages sent before the service or the peer is there go out when both are, with only the newest offer")
    func heldUntilThere() throws {
        var router = Self.router()
        let (channel, none) = try router.open(to: Self.ben)
        #expect(none.isEmpty)
        for message in [Self.offer("1"), Self.candidate("1", 1), Self.offer("2"), Self.candidate("2", 1)] {
            #expect(router.send(message, on: channel)?.isEmpty == true)
        }
        #expect(Self.words(router.opened(present: [:])) == ["opened []"])
        #expect(
            Self.words(router.joined(Self.ben)) == ["joined ben", "to ben: offer 2", "to ben: candidate:1 2"])
        #expect(Self.words(router.send(Self.candidate("2", 2), on: channel) ?? []) == ["to ben: candidate:2 2"])
        _ = router.interrupted(InletError(.disconnected, ""))
        #expect(router.send(.bye(SignalingFlow("2")), on: channel)?.isEmpty == true)
        #expect(
            Self.words(router.opened(present: [Self.ben: nil])) == ["opened [ben]", "to ben: bye 2"])
    }

    @Test("Without presence everything is sent at once, and a peer joins with its first message")
    func withoutPresence() throws {
        var router = Self.router(hasPresence: false)
        _ = router.opened()
        let (channel, _) = try router.open(to: Self.ben)
        #expect(Self.words(router.send(Self.offer("1"), on: channel) ?? []) == ["to ben: offer 1"])
        #expect(Self.words(router.received(Self.from(Self.ben, .bye(nil)))) == ["joined ben", "1 gets bye -"])
    }

    @Test("Messages of a peer without a channel are held for the next one, and a session request is reported once")
    func early() throws {
        var router = Self.router()
        _ = router.opened(present: [Self.ben: Self.run("1")])
        #expect(Self.words(router.received(Self.from(Self.ben, Self.candidate("f", 1), "1"))) == [])
        #expect(Self.words(router.received(Self.from(Self.ben, Self.offer("f"), "1"))) == ["requested ben"])
        #expect(Self.words(router.received(Self.from(Self.ben, Self.offer("f"), "1"))) == [])
        let (channel, actions) = try router.open(to: Self.ben)
        #expect(Self.words(actions) == ["1 gets candidate:1 f", "1 gets offer f", "1 gets offer f"])
        let (next, replaced) = try router.open(to: Self.ben)
        #expect(Self.words(replaced) == ["\(channel) ends"])
        #expect(router.send(Self.offer("g"), on: channel) == nil)
        #expect(Self.words(router.received(Self.from(Self.ben, .bye(nil), "1"))) == ["\(next) gets bye -"])
        #expect(Self.words(router.close(next)) == ["\(next) ends"])
        // A finished session leaves nothing behind.
        _ = router.received(Self.from(Self.ben, Self.offer("h"), "1"))
        _ = router.received(Self.from(Self.ben, .bye(SignalingFlow("h")), "1"))
        #expect(try Self.words(router.open(to: Self.ben).actions) == [])
    }

    @Test("Another instance of a peer ends the channel as a bye does, and late messages of the old one are ignored")
    func reset() throws {
        var router = Self.router()
        _ = router.opened(present: [Self.ben: Self.run("1")])
        let (channel, _) = try router.open(to: Self.ben)
        #expect(
            Self.words(router.received(Self.from(Self.ben, Self.offer("new"), "2")))
                == ["\(channel) gets bye -", "\(channel) ends", "reset ben", "requested ben"])
        #expect(Self.words(router.received(Self.from(Self.ben, Self.offer("late"), "1"))) == [])
        #expect(Self.words(router.left(Self.ben, instance: Self.run("1"))) == [])
        let (next, early) = try router.open(to: Self.ben)
        #expect(Self.words(early) == ["\(next) gets offer new"])
        // Presence reports the peer as gone, then as present with another instance.
        #expect(Self.words(router.left(Self.ben, instance: Self.run("2"))) == ["left ben"])
        #expect(
            Self.words(router.joined(Self.ben, instance: Self.run("3")))
                == ["\(next) gets bye -", "\(next) ends", "joined ben", "reset ben"])
    }

    @Test("A peer that reconnects as the same instance keeps its channel")
    func reconnection() throws {
        var router = Self.router()
        _ = router.opened(present: [Self.ben: Self.run("1")])
        let (channel, _) = try router.open(to: Self.ben)
        #expect(Self.words(router.left(Self.ben, instance: Self.run("1"))) == ["left ben"])
        // The report of the peer's end may be late.
        #expect(Self.words(router.send(Self.offer("f"), on: channel) ?? []) == ["to ben: offer f"])
        #expect(Self.words(router.joined(Self.ben, instance: Self.run("1"))) == ["joined ben", "to ben: offer f"])
    }

    @Test("An instance mistaken for an old one after a late message is current after four messages in a row")
    func lateFirst() throws {
        var router = Self.router(hasPresence: false)
        _ = router.opened()
        _ = router.received(Self.from(Self.ben, Self.offer("new"), "2"))
        _ = router.received(Self.from(Self.ben, Self.offer("late"), "1"))
        for number in 0..<3 {
            #expect(Self.words(router.received(Self.from(Self.ben, Self.candidate("new", number), "2"))) == [])
        }
        #expect(
            Self.words(router.received(Self.from(Self.ben, Self.offer("newer"), "2")))
                == ["reset ben", "requested ben"])
    }

    @Test("Messages for others, without a sender and from this side's own name are ignored")
    func strangers() {
        var router = Self.router()
        _ = router.opened(present: [:])
        for (from, to) in [(Self.ben, Self.cy), (nil, Self.me), (Self.me, Self.me)] as [(PeerID?, PeerID)] {
            let envelope = SignalingEnvelope(from: from, to: to, .session(Self.offer("f")))
            #expect(Self.words(router.received(envelope)) == [])
        }
    }

    @Test("A call reaches a present peer, and no other")
    func calls() throws {
        var router = Self.router()
        let invite = CallMessage(CallID(), .invite)
        #expect(throws: SignalingFailure.self) { try router.send(invite, to: Self.ben) }
        _ = router.opened(present: [Self.ben: Self.run("1")])
        #expect(Self.words(try router.send(invite, to: Self.ben)) == ["to ben: a call"])
        let failure = #expect(throws: SignalingFailure.self) { try router.send(invite, to: Self.cy) }
        #expect(failure?.error.code == .notFound && failure?.retryAfter == nil)
        let called = router.received(SignalingEnvelope(from: Self.cy, .call(invite)))
        #expect(Self.words(called) == ["joined cy", "call invite cy"])
    }

    @Test("The memory that peers can use is bounded: peers, messages without a channel and their bytes")
    func bounds() throws {
        var limits = SignalingRouter.Limits()
        (limits.peers, limits.earlyMessages, limits.earlyBytes, limits.heldMessages) = (3, 5, 100, 4)
        var router = Self.router(limits: limits)
        _ = router.opened(present: [:])
        for number in 0..<100 { _ = router.received(Self.from(try Self.id("p\(number)"), Self.offer("f"))) }
        #expect(router.presentPeers.count == 3)
        // A peer that left makes room for another.
        _ = router.left(try Self.id("p0"))
        #expect(Self.words(router.joined(Self.ben)) == ["joined ben"])
        #expect(throws: InletError.self) { try router.open(to: Self.cy) }
        for number in 0..<50 { _ = router.received(Self.from(Self.ben, Self.candidate("f", number))) }
        #expect(try router.open(to: Self.ben).actions.count == 5)
        _ = router.received(Self.from(try Self.id("p1"), Self.offer("f", sdp: String(repeating: "x", count: 101))))
        #expect(try router.open(to: Self.id("p1")).actions.isEmpty)
        _ = router.interrupted(InletError(.disconnected, ""))
        let channel = try router.open(to: Self.ben).channel
        for number in 0..<50 { _ = router.send(Self.candidate("f", number), on: channel) }
        #expect(
            Self.words(router.opened(present: [Self.ben: nil])).suffix(4)
                == (46..<50).map { "to ben: candidate:\($0) f" })
    }

    @Test("The end finishes every channel")
    func closing() throws {
        var router = Self.router()
        _ = try router.open(to: Self.ben)
        _ = try router.open(to: Self.cy)
        #expect(Self.words(router.closed(nil)) == ["1 ends", "2 ends", "closed"])
        #expect(throws: InletError.self) { try router.open(to: Self.me) }
    }
}
