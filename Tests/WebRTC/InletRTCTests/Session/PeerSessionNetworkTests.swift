import InletCore
import Testing

@testable import InletRTC

/// Sessions during changes of this machine's network.
@Suite struct PeerSessionNetworkTests {
    typealias Tests = PeerSessionStateMachineTests

    /// Returns a machine that made an offer and is connected at second 0.
    static func connected(attempts: Int = 0) -> PeerSessionStateMachine {
        var machine = Tests.offering(attempts: attempts)
        _ = machine.handle(.start, at: Tests.at(0))
        connect(&machine, engine: 1, at: Tests.at(0))
        return machine
    }

    static func connect(_ machine: inout PeerSessionStateMachine, engine: Int, at now: MonotonicTime) {
        _ = machine.handle(.engine(engine, .localSet("ours")), at: now)
        _ = machine.handle(.engine(engine, .gathered("ours")), at: now)
        let flow = SignalingFlow("a-\(engine)")
        _ = machine.handle(.description(SessionDescription(kind: .answer, sdp: "theirs", flow: flow)), at: now)
        _ = machine.handle(.engine(engine, .remoteSet), at: now)
        _ = machine.handle(.engine(engine, .path(.up)), at: now)
    }

    @Test("A session whose peer is silent after an address is gone restarts within 2 s, and reports why")
    func restarts() throws {
        var machine = Self.connected()
        #expect(machine.state == .connected)
        #expect(machine.handle(.networkChanged(mayBreakPaths: true), at: Tests.at(1)) == [])
        #expect(machine.isDoubted)
        let due = try #require(machine.deadline)
        #expect(due <= Tests.at(3))
        #expect(
            machine.handle(.tick, at: due) == [
                .tellSetback(.failed(.networkChanged)), .close(1), .open(2), .offer(2), .tell(.reconnecting),
            ])
        // The new flow doesn't count as a failed attempt; the policy permits no failed attempts here.
        Self.connect(&machine, engine: 2, at: due)
        #expect(machine.state == .connected)
        #expect(!machine.isDoubted)
    }

    @Test("A session whose peer is heard from continues, and has its usual time from then on")
    func goesOn() {
        var machine = Self.connected()
        _ = machine.handle(.networkChanged(mayBreakPaths: true), at: Tests.at(1))
        #expect(machine.handle(.feedback, at: Tests.at(1)) == [])
        #expect(!machine.isDoubted)
        #expect(machine.deadline == Tests.at(1) + machine.policy.silence)
    }

    @Test("An added address does not affect a session")
    func addition() {
        var machine = Self.connected()
        let due = machine.deadline
        #expect(machine.handle(.networkChanged(mayBreakPaths: false), at: Tests.at(1)) == [])
        #expect(machine.deadline == due)
        #expect(!machine.isDoubted)
    }

    @Test("A path that is broken or being set up restarts at once with any change", arguments: [true, false])
    func settingUp(isLoss: Bool) {
        var broken = Self.connected()
        _ = broken.handle(.engine(1, .path(.down)), at: Tests.at(1))
        #expect(
            broken.handle(.networkChanged(mayBreakPaths: isLoss), at: Tests.at(2))
                == [.tellSetback(.failed(.networkChanged)), .close(1), .open(2), .offer(2)])
        var offered = Tests.offering()
        _ = offered.handle(.start, at: Tests.at(0))
        _ = offered.handle(.engine(1, .localSet("ours")), at: Tests.at(0))
        _ = offered.handle(.engine(1, .gathered("ours")), at: Tests.at(0))
        #expect(offered.handle(.networkChanged(mayBreakPaths: isLoss), at: Tests.at(1)).suffix(3).contains(.offer(2)))
    }

    @Test("A session that waits for its next attempt stops waiting when the network is back")
    func waiting() {
        var machine = Tests.offering(attempts: 9)
        _ = machine.handle(.start, at: Tests.at(0))
        _ = machine.handle(.engine(1, .localSet("ours")), at: Tests.at(0))
        _ = machine.handle(.undelivered(SignalingFlow("a-1"), retryAfter: .seconds(30)), at: Tests.at(0))
        #expect(machine.deadline == Tests.at(30))
        #expect(
            machine.handle(.networkChanged(mayBreakPaths: false), at: Tests.at(2)) == [.open(2), .offer(2)])
    }

    @Test("A session that waits for offers keeps its path for a returning peer, and accepts its next offer")
    func answering() throws {
        var machine = Tests.answering(until: .connected)
        _ = machine.handle(.networkChanged(mayBreakPaths: true), at: Tests.at(1))
        let due = try #require(machine.deadline)
        #expect(
            machine.handle(.tick, at: due) == [.tellSetback(.failed(.networkChanged)), .tell(.reconnecting)])
        let offer = SessionDescription(kind: .offer, sdp: "theirs", flow: SignalingFlow("b-2"))
        #expect(
            machine.handle(.description(offer), at: due) == [.close(1), .open(2), .setRemote(2, offer)])
    }

    @Test("A session that has not started, or is over, is not affected")
    func idle() {
        var machine = Tests.offering()
        #expect(machine.handle(.networkChanged(mayBreakPaths: true), at: Tests.at(0)) == [])
        _ = machine.handle(.start, at: Tests.at(0))
        _ = machine.handle(.close, at: Tests.at(0))
        #expect(machine.handle(.networkChanged(mayBreakPaths: true), at: Tests.at(1)) == [])
    }
}
