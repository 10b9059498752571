import InletCore
import Testing

@testable import InletRTC

@Suite struct PeerSessionStateMachineTests {
    typealias Machine = PeerSessionStateMachine
    static let offer = SessionDescription(kind: .offer, sdp: "theirs", flow: SignalingFlow("b-1"))

    static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    static func answering(attempts: Int = 0, trickles: Bool = false) -> Machine {
        var policy = PeerSessionPolicy(role: .answering, name: "a")
        policy.attempts = attempts
        policy.trickles = trickles
        return Machine(policy)
    }

    static func offering(attempts: Int = 0, yields: Bool = false, trickles: Bool = true) -> Machine {
        var policy = PeerSessionPolicy(role: .offering, name: "a")
        policy.attempts = attempts
        policy.yields = yields
        policy.trickles = trickles
        return Machine(policy)
    }

    /// Returns an answering machine in the given state, at second 0.
    static func answering(until state: PeerSessionState, attempts: Int = 0) -> Machine {
        var machine = answering(attempts: attempts)
        let steps: [(Machine.Input, PeerSessionState)] = [
            (.start, .new), (.description(offer), .exchanging), (.engine(1, .remoteSet), .exchanging),
            (.engine(1, .localSet("ours")), .gathering), (.engine(1, .gathered("ours+")), .connecting),
            (.engine(1, .path(.up)), .connected), (.engine(1, .path(.down)), .reconnecting),
        ]
        for (input, reached) in steps {
            _ = machine.handle(input, at: at(0))
            if reached == state { break }
        }
        return machine
    }

    @Test("A viewer's offer is set, answered with the candidates in it, and connects")
    func answers() {
        var machine = Self.answering()
        #expect(machine.handle(.start, at: Self.at(0)) == [])
        #expect(
            machine.handle(.description(Self.offer), at: Self.at(0))
                == [.open(1), .setRemote(1, Self.offer), .tell(.exchanging)])
        #expect(machine.handle(.engine(1, .remoteSet), at: Self.at(0)) == [.answer(1)])
        #expect(machine.handle(.engine(1, .localSet("ours")), at: Self.at(0)) == [.tell(.gathering)])
        let answer = SessionDescription(kind: .answer, sdp: "ours+", flow: Self.offer.flow)
        #expect(
            machine.handle(.engine(1, .gathered("ours+")), at: Self.at(0.1)) == [.send(answer), .tell(.connecting)])
        #expect(machine.handle(.engine(1, .path(.up)), at: Self.at(0.2)) == [.tell(.connected)])
        #expect(machine.deadline == Self.at(10.2))
        #expect(machine.handle(.feedback, at: Self.at(5)) == [])
        #expect(machine.deadline == Self.at(15))
    }

    @Test("An offer is sent with its candidates, and the answer connects")
    func offers() {
        var machine = Self.offering(trickles: false)
        #expect(machine.handle(.start, at: Self.at(0)) == [.open(1), .offer(1), .tell(.exchanging)])
        #expect(machine.handle(.engine(1, .localSet("ours")), at: Self.at(0)) == [.tell(.gathering)])
        let sent = SessionDescription(kind: .offer, sdp: "ours+", flow: SignalingFlow("a-1"))
        #expect(machine.handle(.engine(1, .gathered("ours+")), at: Self.at(0)) == [.send(sent), .tell(.exchanging)])
        let answer = SessionDescription(kind: .answer, sdp: "theirs", flow: sent.flow)
        #expect(machine.handle(.description(answer), at: Self.at(1)) == [.setRemote(1, answer)])
        #expect(machine.handle(.engine(1, .remoteSet), at: Self.at(1)) == [.tell(.connecting)])
        #expect(machine.handle(.engine(1, .path(.up)), at: Self.at(1)) == [.tell(.connected)])
    }

    @Test("A path that is up before the answer was applied counts once it is")
    func earlyPath() {
        var machine = Self.answering()
        for input: Machine.Input in [.description(Self.offer), .engine(1, .remoteSet), .engine(1, .localSet("ours"))] {
            _ = machine.handle(input, at: Self.at(0))
        }
        #expect(machine.handle(.engine(1, .path(.up)), at: Self.at(0)) == [])
        _ = machine.handle(.engine(1, .gathered("ours+")), at: Self.at(0))
        #expect(machine.state == .connected)
    }

    @Test("Candidates that arrive before the description are added after it, in order")
    func earlyCandidates() {
        var machine = Self.answering(trickles: true)
        let candidates = (1...3).map { ICECandidate(line: "candidate:\($0)", section: 0, flow: Self.offer.flow) }
        for candidate in candidates { #expect(machine.handle(.candidate(candidate), at: Self.at(0)) == []) }
        _ = machine.handle(.description(Self.offer), at: Self.at(0))
        #expect(
            machine.handle(.engine(1, .remoteSet), at: Self.at(0)) == candidates.map { .add(1, $0) } + [.answer(1)])
        let late = ICECandidate(line: "candidate:4", section: 0, flow: Self.offer.flow)
        #expect(machine.handle(.candidate(late), at: Self.at(0)) == [.add(1, late)])
        #expect(machine.handle(.candidate(late), at: Self.at(0)) == [], "doubled by signaling")
    }

    @Test("When gathering takes too long, the answer is sent with the candidates so far")
    func lateGathering() {
        var machine = Self.answering(until: .gathering)
        #expect(machine.handle(.tick, at: Self.at(1.9)) == [])
        #expect(machine.handle(.tick, at: Self.at(2)) == [.describe(1)])
        _ = machine.handle(.engine(1, .gathered("some")), at: Self.at(2))
        #expect(machine.state == .connecting)
    }

    static let timeouts: [(PeerSessionState, Double, PeerSessionStep)] = [
        (.exchanging, 10, .exchanging), (.connecting, 10, .connecting), (.connected, 10, .connected),
        (.reconnecting, 10, .reconnecting),
    ]

    @Test(
        "A step that exceeds its time ends the session with that step, notifies the peer, and closes the engine",
        arguments: timeouts)
    func timeOut(_ state: PeerSessionState, _ seconds: Double, _ step: PeerSessionStep) {
        var machine = Self.answering(until: state)
        #expect(machine.state == state)
        #expect(machine.deadline == Self.at(seconds))
        #expect(
            machine.handle(.tick, at: Self.at(seconds))
                == [.sendBye(Self.offer.flow), .close(1), .tell(.ended(.timedOut(step)))])
        #expect(machine.deadline == nil)
        #expect(machine.handle(.description(Self.offer), at: Self.at(20)) == [])
    }

    static let states: [PeerSessionState] = [.new, .exchanging, .gathering, .connecting, .connected, .reconnecting]

    @Test("A bye, a refusal or our own closing ends the session in every state", arguments: states)
    func ends(_ state: PeerSessionState) {
        let ends: [(Machine.Input, PeerSessionEnd)] = [
            (.bye(nil), .remote), (.declined, .declined), (.close, .local),
        ]
        for (input, end) in ends {
            var machine = Self.answering(until: state)
            let actions = machine.handle(input, at: Self.at(1))
            #expect(machine.state == .ended(end))
            #expect(actions.contains(.close(1)) == (state != .new))
            #expect(actions.contains(.sendBye(Self.offer.flow)) == (end == .local && state != .new))
        }
    }

    @Test("A restarted peer gets a new engine, in every state", arguments: states.dropFirst())
    func startsOver(_ state: PeerSessionState) {
        var machine = Self.answering(until: state)
        let again = SessionDescription(kind: .offer, sdp: "again", flow: SignalingFlow("b-2"))
        let actions = machine.handle(.description(again), at: Self.at(1))
        #expect(actions.prefix(3) == [.close(1), .open(2), .setRemote(2, again)])
        #expect(machine.handle(.engine(1, .path(.up)), at: Self.at(1)) == [], "word of the engine before")
        #expect(machine.handle(.bye(Self.offer.flow), at: Self.at(1)) == [], "a bye of the flow before")
        #expect(machine.handle(.description(Self.offer), at: Self.at(1)) == [], "the offer before, late")
    }

    @Test("If two offers cross, the yielding side drops its own and answers", arguments: [true, false])
    func glare(_ yields: Bool) {
        var machine = Self.offering(yields: yields)
        _ = machine.handle(.start, at: Self.at(0))
        _ = machine.handle(.engine(1, .localSet("ours")), at: Self.at(0))
        let actions = machine.handle(.description(Self.offer), at: Self.at(0))
        #expect(actions == (yields ? [.close(1), .open(2), .setRemote(2, Self.offer)] : []))
    }

    @Test("An answer to another offer, or a second one, changes nothing")
    func strayAnswer() {
        var machine = Self.offering()
        _ = machine.handle(.start, at: Self.at(0))
        let stray = SessionDescription(kind: .answer, sdp: "x", flow: SignalingFlow("a-0"))
        let answer = SessionDescription(kind: .answer, sdp: "x", flow: SignalingFlow("a-1"))
        #expect(machine.handle(.description(answer), at: Self.at(0)) == [], "before the offer was sent")
        _ = machine.handle(.engine(1, .localSet("ours")), at: Self.at(0))
        #expect(machine.handle(.description(stray), at: Self.at(0)) == [])
        #expect(machine.handle(.description(answer), at: Self.at(0)) == [.setRemote(1, answer)])
        #expect(machine.handle(.description(answer), at: Self.at(0)) == [])
    }

    @Test("Further attempts follow at once, then after 1, 2 and 4 seconds, and then it ends")
    func backOff() {
        var machine = Self.offering(attempts: 4)
        _ = machine.handle(.start, at: Self.at(0))
        var (now, waits) = (0.0, [Double]())
        for attempt in 1...4 {
            now = Double(machine.deadline?.nanoseconds ?? 0) / 1e9
            let actions = machine.handle(.tick, at: Self.at(now))
            let isAtOnce = actions.contains(.offer(attempt + 1))
            let next = Double(machine.deadline?.nanoseconds ?? 0) / 1e9
            waits.append(isAtOnce ? 0 : next - now)
            if !isAtOnce {
                #expect(machine.handle(.tick, at: Self.at(next)) == [.open(attempt + 1), .offer(attempt + 1)])
            }
        }
        #expect(waits == [0, 1, 2, 4])
        _ = machine.handle(.tick, at: machine.deadline ?? Self.at(0))
        #expect(machine.state == .ended(.timedOut(.exchanging)))
    }

    @Test(
        "The count of attempts restarts after a healthy period, and not after a short one",
        arguments: [(9.0, false), (11.0, true)])
    func health(_ seconds: Double, _ isHealthy: Bool) {
        var machine = Self.offering(attempts: 1)
        func connect(_ id: Int, _ time: Double) {
            _ = machine.handle(.engine(id, .localSet("ours")), at: Self.at(time))
            let answer = SessionDescription(kind: .answer, sdp: "x", flow: SignalingFlow("a-\(id)"))
            for input: Machine.Input in [.description(answer), .engine(id, .remoteSet), .engine(id, .path(.up))] {
                _ = machine.handle(input, at: Self.at(time))
            }
        }
        _ = machine.handle(.start, at: Self.at(0))
        connect(1, 0)
        _ = machine.handle(.engine(1, .path(.failed)), at: Self.at(1))
        #expect(machine.state == .reconnecting)
        connect(2, 1)
        #expect(machine.state == .connected)
        _ = machine.handle(.feedback, at: Self.at(5))
        _ = machine.handle(.engine(2, .path(.failed)), at: Self.at(1 + seconds))
        #expect(machine.state == (isHealthy ? .reconnecting : .ended(.failed(.noPath))))
    }

    @Test("A failure that a retry cannot change ends the session at once", arguments: PeerSessionFailure.allCases)
    func failures(_ failure: PeerSessionFailure) {
        var machine = Self.offering(attempts: 3)
        _ = machine.handle(.start, at: Self.at(0))
        _ = machine.handle(.engine(1, .failed(failure)), at: Self.at(0))
        let isFinal = [.malformedDescription, .noCommonCodec, .limit].contains(failure)
        #expect(machine.state == (isFinal ? .ended(.failed(failure)) : .exchanging))
    }

    @Test("Every end with an error states a remedy")
    func advice() {
        let ends =
            [PeerSessionEnd.declined] + PeerSessionStep.allCases.map { .timedOut($0) }
            + PeerSessionFailure.allCases.map { .failed($0) }
        for end in ends { #expect((end.error?.message.split(separator: ".").count ?? 0) >= 2, "\(end)") }
        #expect(PeerSessionEnd.local.error == nil)
        #expect(PeerSessionEnd.remote.error == nil)
    }
}
