import InletCore
import Testing

@testable import InletRTC

/// Further offers within a running engine.
@Suite struct PeerSessionExchangeTests {
    typealias Machine = PeerSessionStateMachine
    typealias Base = PeerSessionStateMachineTests

    private static func text(_ engine: String) -> String { "a=fingerprint:sha-256 \(engine)\r\na=ice-ufrag:x\r\n" }

    private static func description(
        _ kind: SessionDescription.Kind, _ flow: String, engine: String = "b"
    ) -> SessionDescription {
        SessionDescription(kind: kind, sdp: text(engine), flow: SignalingFlow(flow))
    }

    /// Returns a machine that is connected since second 0, with the flow `a-1`.
    private static func connected(yields: Bool = false, attempts: Int = 0) -> Machine {
        var machine = Base.offering(attempts: attempts, yields: yields)
        for input: Machine.Input in [
            .start, .engine(1, .localSet("ours")), .description(description(.answer, "a-1")), .engine(1, .remoteSet),
            .engine(1, .path(.up)),
        ] { _ = machine.handle(input, at: Base.at(0)) }
        #expect(machine.state == .connected)
        return machine
    }

    @Test("Changes during an offer go into one further offer; the first is set with its answer")
    func changes() {
        var machine = Self.connected()
        #expect(machine.handle(.change, at: Base.at(1)) == [.reoffer(1)])
        #expect(machine.handle(.change, at: Base.at(1)) == [])
        #expect(machine.handle(.change, at: Base.at(1)) == [])
        let offer = SessionDescription(kind: .offer, sdp: "more", flow: SignalingFlow("a-1-1"))
        #expect(machine.handle(.engine(1, .offerMade("more")), at: Base.at(1)) == [.send(offer)])
        let answer = Self.description(.answer, "a-1-1")
        #expect(machine.handle(.description(answer), at: Base.at(1)) == [.revise(1, answer)])
        // A repeated answer changes nothing.
        #expect(machine.handle(.description(answer), at: Base.at(1)) == [])
        #expect(machine.handle(.engine(1, .localSet("more")), at: Base.at(1)) == [])
        #expect(machine.handle(.engine(1, .remoteSet), at: Base.at(1)) == [.tellAgreed, .reoffer(1)])
        #expect(machine.state == .connected)
    }

    @Test("The same engine answers the peer's further offer, and its end is known by each name")
    func answers() {
        var machine = Self.connected()
        let offer = Self.description(.offer, "b-7")
        #expect(machine.handle(.description(offer), at: Base.at(1)) == [.revise(1, offer)])
        #expect(machine.handle(.engine(1, .remoteSet), at: Base.at(1)) == [.answer(1)])
        let answer = SessionDescription(kind: .answer, sdp: "yes", flow: offer.flow)
        #expect(machine.handle(.engine(1, .localSet("yes")), at: Base.at(1)) == [.send(answer)])
        var other = machine
        #expect(machine.handle(.bye(SignalingFlow("a-1")), at: Base.at(2)).last == .tell(.ended(.remote)))
        #expect(other.handle(.bye(offer.flow), at: Base.at(2)).last == .tell(.ended(.remote)))
    }

    @Test("If two offers cross, the polite side's is dropped, and made again when the other's is answered")
    func glare() {
        let theirs = Self.description(.offer, "b-7")
        for isSent in [false, true] {
            var polite = Self.connected(yields: true)
            _ = polite.handle(.change, at: Base.at(1))
            if isSent { _ = polite.handle(.engine(1, .offerMade("more")), at: Base.at(1)) }
            #expect(polite.handle(.description(theirs), at: Base.at(1)) == [.revise(1, theirs)])
            if !isSent { #expect(polite.handle(.engine(1, .offerMade("more")), at: Base.at(1)) == []) }
            _ = polite.handle(.engine(1, .remoteSet), at: Base.at(1))
            let answer = SessionDescription(kind: .answer, sdp: "yes", flow: theirs.flow)
            #expect(polite.handle(.engine(1, .localSet("yes")), at: Base.at(1)) == [.send(answer), .reoffer(1)])

            var other = Self.connected()
            _ = other.handle(.change, at: Base.at(1))
            if isSent { _ = other.handle(.engine(1, .offerMade("more")), at: Base.at(1)) }
            #expect(other.handle(.description(theirs), at: Base.at(1)) == [])
        }
    }

    @Test("An unanswered offer is made three times; the session continues and reports it")
    func unanswered() {
        var machine = Self.connected()
        var actions = machine.handle(.change, at: Base.at(0))
        for number in 1...3 {
            #expect(actions == [.reoffer(1)])
            _ = machine.handle(.feedback, at: Base.at(Double(number) * 10 - 1))
            actions = machine.handle(.engine(1, .offerMade("more")), at: Base.at(Double(number) * 10 - 10))
            #expect(actions.count == 1)
            #expect(machine.deadline == Base.at(Double(number) * 10))
            actions = machine.handle(.tick, at: Base.at(Double(number) * 10))
        }
        #expect(actions == [.tellSetback(.timedOut(.exchanging))])
        #expect(machine.state == .connected)
    }

    @Test(
        "An offer or an answer of another peer engine restarts the session, and so does an engine that does not answer")
    func others() {
        var machine = Self.connected(attempts: 2)
        let offer = Self.description(.offer, "b-7", engine: "c")
        #expect(
            machine.handle(.description(offer), at: Base.at(1)).prefix(3) == [
                .close(1), .open(2), .setRemote(2, offer),
            ])

        machine = Self.connected(attempts: 2)
        _ = machine.handle(.change, at: Base.at(1))
        _ = machine.handle(.engine(1, .offerMade("more")), at: Base.at(1))
        let answer = Self.description(.answer, "a-1-1", engine: "c")
        #expect(machine.handle(.description(answer), at: Base.at(1)).prefix(3) == [.close(1), .open(2), .offer(2)])

        machine = Self.connected(attempts: 2)
        _ = machine.handle(.change, at: Base.at(1))
        _ = machine.handle(.feedback, at: Base.at(9))
        let actions = machine.handle(.tick, at: Base.at(11))
        #expect(actions.contains(.offer(2)))
    }

    @Test("A change before the first offer is in it; features missing from the peer's offer are offered")
    func early() {
        var machine = Base.offering()
        #expect(machine.handle(.change, at: Base.at(0)) == [])
        #expect(machine.handle(.start, at: Base.at(0)) == [.open(1), .offer(1), .tell(.exchanging)])
        machine = Base.answering()
        _ = machine.handle(.change, at: Base.at(0))
        for input: Machine.Input in [
            .description(Self.description(.offer, "b-1")), .engine(1, .remoteSet), .engine(1, .localSet("a")),
            .engine(1, .gathered("a")),
        ] { _ = machine.handle(input, at: Base.at(0)) }
        #expect(machine.handle(.engine(1, .path(.up)), at: Base.at(0)) == [.reoffer(1), .tell(.connected)])
    }

    @Test("A further offer that is not delivered is repeated after a while; one that is refused is reported")
    func undelivered() {
        var machine = Self.connected()
        _ = machine.handle(.change, at: Base.at(1))
        _ = machine.handle(.engine(1, .offerMade("more")), at: Base.at(1))
        let flow = SignalingFlow("a-1-1")
        #expect(machine.handle(.undelivered(flow, retryAfter: .seconds(2)), at: Base.at(1)) == [])
        #expect(machine.deadline == Base.at(3))
        #expect(machine.handle(.tick, at: Base.at(3)) == [.reoffer(1)])
        _ = machine.handle(.engine(1, .offerMade("more")), at: Base.at(3))
        #expect(
            machine.handle(.undelivered(SignalingFlow("a-1-2"), retryAfter: nil), at: Base.at(3))
                == [.tellSetback(.declined)])
        #expect(machine.state == .connected)
    }

    @Test("A further offer that was overtaken by a later one is ignored")
    func overtaken() {
        var machine = Self.connected()
        for (version, flow, isTaken) in [(2, "b-2", true), (3, "b-3", true), (1, "b-1", false)] {
            var offer = Self.description(.offer, flow)
            offer.sdp = "o=- 7 \(version) IN IP4 127.0.0.1\r\n" + offer.sdp
            let actions = machine.handle(.description(offer), at: Base.at(1))
            #expect(actions == (isTaken ? [.revise(1, offer)] : []))
            _ = machine.handle(.engine(1, .remoteSet), at: Base.at(1))
            _ = machine.handle(.engine(1, .localSet("yes")), at: Base.at(1))
        }
    }
}
