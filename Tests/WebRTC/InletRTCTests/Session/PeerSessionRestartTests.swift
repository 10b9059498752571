import InletCore
import Testing

@testable import InletRTC

/// Undelivered messages, and restarts.
@Suite struct PeerSessionRestartTests {
    typealias Tests = PeerSessionStateMachineTests
    static let first = SignalingFlow("a-1")

    @Test("An offer that could not be delivered is followed by another, no sooner than requested")
    func undelivered() {
        var machine = Tests.offering(attempts: 9)
        _ = machine.handle(.start, at: Tests.at(0))
        _ = machine.handle(.engine(1, .localSet("ours")), at: Tests.at(0))
        #expect(
            machine.handle(.undelivered(Self.first, retryAfter: .seconds(7)), at: Tests.at(1))
                == [.close(1)])
        #expect(machine.deadline == Tests.at(8))
        #expect(machine.handle(.tick, at: Tests.at(8)) == [.open(2), .offer(2)])
        // A message of a flow that has already ended.
        #expect(machine.handle(.undelivered(Self.first, retryAfter: nil), at: Tests.at(8)) == [])
        #expect(
            machine.handle(.undelivered(SignalingFlow("a-2"), retryAfter: .zero), at: Tests.at(9)) == [.close(2)])
        #expect(machine.deadline == Tests.at(10))
    }

    @Test("A failing step reports why before the flow restarts; a peer that closes its side is no error")
    func setback() {
        var machine = Tests.offering(attempts: 9)
        _ = machine.handle(.start, at: Tests.at(0))
        _ = machine.handle(.engine(1, .localSet("ours")), at: Tests.at(0))
        _ = machine.handle(.engine(1, .gathered("ours")), at: Tests.at(0))
        let answer = SessionDescription(kind: .answer, sdp: "theirs", flow: Self.first)
        _ = machine.handle(.description(answer), at: Tests.at(0))
        _ = machine.handle(.engine(1, .remoteSet), at: Tests.at(0))
        #expect(
            machine.handle(.tick, at: Tests.at(10))
                == [.close(1), .tellSetback(.timedOut(.connecting)), .open(2), .offer(2), .tell(.exchanging)])
        machine = Tests.offering(attempts: 9)
        _ = machine.handle(.start, at: Tests.at(0))
        #expect(
            !machine.handle(.engine(1, .path(.closed)), at: Tests.at(1)).contains {
                if case .tellSetback = $0 { true } else { false }
            })
    }

    @Test("If a retry is pointless the session is over, and reports that it was declined")
    func declined() {
        var machine = Tests.offering(attempts: 9)
        _ = machine.handle(.start, at: Tests.at(0))
        #expect(
            machine.handle(.undelivered(Self.first, retryAfter: nil), at: Tests.at(1))
                == [.close(1), .tell(.ended(.declined))])
    }

    @Test("A restart begins another flow, which does not count as a failed attempt")
    func restarts() {
        var machine = Tests.offering()
        #expect(machine.handle(.restart, at: Tests.at(0)) == [])
        _ = machine.handle(.start, at: Tests.at(0))
        #expect(machine.handle(.restart, at: Tests.at(1)) == [.close(1), .open(2), .offer(2)])
        machine = Tests.answering(until: .connected)
        #expect(machine.handle(.restart, at: Tests.at(1)) == [.close(1), .tell(.reconnecting)])
        let offer = SessionDescription(kind: .offer, sdp: "theirs", flow: SignalingFlow("b-2"))
        #expect(machine.handle(.description(offer), at: Tests.at(2)) == [.open(2), .setRemote(2, offer)])
        #expect(machine.handle(.close, at: Tests.at(3)).contains(.tell(.ended(.local))))
        #expect(machine.handle(.restart, at: Tests.at(4)) == [])
    }

    @Test("The end of signaling changes nothing while media flows", arguments: [Duration.zero, nil])
    func undeliveredWhileConnected(wait: Duration?) {
        typealias Basics = PeerSessionStateMachineTests
        var machine = Basics.answering(until: .connected)
        #expect(
            machine.handle(.undelivered(Basics.offer.flow, retryAfter: wait), at: Basics.at(1)) == [])
        #expect(machine.handle(.signalingEnded, at: Basics.at(1)) == [])
        #expect(machine.state == .connected)
    }

    @Test(
        "A session ends with its signaling if there is no path yet",
        arguments: [
            PeerSessionState.new, .exchanging, .gathering,
        ])
    func signalingEnds(at state: PeerSessionState) {
        typealias Basics = PeerSessionStateMachineTests
        var machine = Basics.answering(until: state)
        _ = machine.handle(.signalingEnded, at: Basics.at(1))
        #expect(machine.state == .ended(.remote))
        #expect(machine.deadline == nil)
    }
}
