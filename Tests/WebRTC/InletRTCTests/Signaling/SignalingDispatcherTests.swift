import InletCore
import InletRTC
import Testing

/// Events of a signaling service, and their receivers.
@Suite struct SignalingDispatcherTests {
    private static func dispatcher() -> SignalingDispatcher {
        SignalingDispatcher(SignalingRouterTests.router()) { _ in }
    }

    /// Returns the events of a stream that has ended.
    private static func words(_ events: AsyncStream<SignalingEvent>) async -> [String] {
        var words: [String] = []
        for await event in events { words += SignalingRouterTests.words([.tell(event)]) }
        return words
    }

    @Test("The first stream has the earlier events, the second the events from its request on")
    func early() async {
        let dispatcher = Self.dispatcher()
        dispatcher.opened(present: [SignalingRouterTests.ben: nil])
        // For example a peer that waits for this one, before the application has asked for events.
        dispatcher.receive(SignalingRouterTests.from(SignalingRouterTests.ben, SignalingRouterTests.offer("a")))
        let (first, second) = (dispatcher.events(), dispatcher.events())
        dispatcher.joined(SignalingRouterTests.cy)
        dispatcher.closed(nil)
        let (all, later) = (await Self.words(first), await Self.words(second))
        #expect(all == ["joined ben", "opened [ben]", "requested ben", "joined cy", "closed"])
        #expect(later == ["opened [ben]", "joined cy", "closed"])
        // A stream requested too late reports only that signaling is closed, with the reason.
        #expect(await Self.words(dispatcher.events()) == ["closed"])
    }

    @Test("An offer before a reconnection is reported, too, and so is a peer that did not come back")
    func reconnected() async {
        let dispatcher = Self.dispatcher()
        dispatcher.opened(present: [SignalingRouterTests.ben: nil])
        dispatcher.receive(SignalingRouterTests.from(SignalingRouterTests.ben, SignalingRouterTests.offer("a")))
        dispatcher.interrupted(InletError(.disconnected, "The service ended the connection."))
        dispatcher.opened(present: [SignalingRouterTests.cy: nil])
        let events = dispatcher.events()
        dispatcher.closed(nil)
        let words = await Self.words(events)
        #expect(
            words == [
                "joined ben", "opened [ben]", "requested ben", "interrupted", "left ben", "joined cy", "opened [cy]",
                "closed",
            ])
    }

    @Test("Unrequested events are kept in a bounded number; after more, a stream begins with the present state")
    func bounded() async {
        let dispatcher = Self.dispatcher()
        dispatcher.opened(present: [:])
        for _ in 0..<600 {
            dispatcher.joined(SignalingRouterTests.ben)
            dispatcher.left(SignalingRouterTests.ben)
        }
        dispatcher.joined(SignalingRouterTests.cy)
        let events = dispatcher.events()
        dispatcher.closed(nil)
        let words = await Self.words(events)
        #expect(words == ["opened [cy]", "closed"])
    }
}
