import InletCore
import Testing

@testable import InletRTC

/// The reactions of a side to each message, action and timeout, in each state.
@Suite struct CallStateMachineTests {
    private let (anna, ben, cleo): (PeerID, PeerID, PeerID)
    private let (first, second): (CallID, CallID)
    private let start = MonotonicTime(nanoseconds: 0)

    init() throws {
        (anna, ben, cleo) = (try PeerID("anna"), try PeerID("ben"), try PeerID("cleo"))
        (first, second) = (try CallID("a-first"), try CallID("b-second"))
    }

    private func said(_ content: CallMessage.Content, _ call: CallID, from peer: PeerID) -> CallStateMachine.Input {
        .message(CallMessage(call, content), from: peer)
    }

    /// Returns Anna's machine, in a state of a call to or from Ben.
    private func machine(
        _ state: CallState, isCaller: Bool, _ policy: CallPolicy = CallPolicy()
    ) -> CallStateMachine {
        var machine = CallStateMachine(policy, localID: anna)
        if isCaller {
            _ = machine.handle(.place(first, ben), at: start)
            if state != .calling { _ = machine.handle(said(.ringing, first, from: ben), at: start) }
            if state == .connecting || state == .connected {
                _ = machine.handle(said(.accept, first, from: ben), at: start)
            }
        } else {
            _ = machine.handle(said(.invite, first, from: ben), at: start)
            _ = machine.handle(.admit(first), at: start)
            if state != .ringing { _ = machine.handle(.answer(first), at: start) }
        }
        if state == .connected { _ = machine.handle(.mediaUp(first), at: start) }
        return machine
    }

    @Test("A call goes from the invitation to media, and each step is reported once")
    func regular() {
        var caller = CallStateMachine(CallPolicy(), localID: anna)
        var called = CallStateMachine(CallPolicy(), localID: ben)
        func send(_ content: CallMessage.Content, to peer: PeerID) -> CallStateMachine.Action {
            .send(CallMessage(first, content), to: peer)
        }
        #expect(
            caller.handle(.place(first, ben), at: start)
                == [.tell(first, .calling), send(.invite, to: ben)])
        #expect(called.handle(said(.invite, first, from: anna), at: start) == [.ask(first, anna)])
        #expect(called.handle(.admit(first), at: start) == [.tell(first, .ringing), send(.ringing, to: anna)])
        #expect(caller.handle(said(.ringing, first, from: ben), at: start) == [.tell(first, .ringing)])
        #expect(caller.handle(said(.ringing, first, from: ben), at: start) == [])
        #expect(
            called.handle(.answer(first), at: start)
                == [send(.accept, to: anna), .tell(first, .connecting), .openMedia(first, anna)])
        #expect(
            caller.handle(said(.accept, first, from: ben), at: start)
                == [send(.accept, to: ben), .tell(first, .connecting), .openMedia(first, ben)])
        #expect(caller.handle(said(.accept, first, from: ben), at: start) == [send(.accept, to: ben)])
        #expect(called.handle(said(.accept, first, from: anna), at: start) == [])
        #expect(caller.handle(.mediaUp(first), at: start) == [.tell(first, .connected)])
        #expect(called.handle(.mediaUp(first), at: start) == [.tell(first, .connected)])
        #expect(caller.deadline == nil && called.deadline == nil)

        let end = CallEnd(by: ben, .hungUp)
        #expect(
            called.handle(.hangUp(first), at: start)
                == [.closeMedia(first), .tell(first, .ending), send(.hangUp, to: anna)])
        #expect(
            caller.handle(said(.hangUp, first, from: ben), at: start)
                == [.closeMedia(first), .tell(first, .ended(end)), send(.ended(end), to: ben)])
        #expect(
            called.handle(said(.ended(end), first, from: anna), at: start)
                == [.tell(first, .ended(end)), send(.ended(end), to: anna)])
        #expect(caller.handle(said(.ended(end), first, from: ben), at: start) == [])
        #expect(caller.deadline == nil && called.deadline == nil)
    }

    @Test("The caller's end is decisive, whatever end the called peer reports")
    func callerDecides() {
        let table: [(CallState, CallMessage.Content, CallEnd)] = [
            (.calling, .decline(reason: "later"), CallEnd(by: ben, .declined("later"))),
            (.ringing, .decline(reason: nil), CallEnd(by: ben, .declined(nil))),
            (.calling, .busy(retryAfter: .seconds(9)), CallEnd(by: ben, .busy(retryAfter: .seconds(9)))),
            (.connecting, .hangUp, CallEnd(by: ben, .hungUp)),
            (.connected, .hangUp, CallEnd(by: ben, .hungUp)),
            (.connected, .ended(CallEnd(by: ben, .failed("no path"))), CallEnd(by: ben, .failed("no path"))),
            (.ringing, .ended(CallEnd(by: ben, .missed)), CallEnd(by: ben, .missed)),
            // Only the two parties can end a call.
            (.connected, .ended(CallEnd(by: cleo, .hungUp)), CallEnd(by: ben, .hungUp)),
        ]
        for (state, content, end) in table {
            var caller = machine(state, isCaller: true)
            let actions = caller.handle(said(content, first, from: ben), at: start)
            #expect(actions.contains(.tell(first, .ended(end))), "\(state), \(content): \(actions)")
            #expect(actions.last == .send(CallMessage(first, .ended(end)), to: ben))
            // A further message of the peer changes nothing.
            let late = caller.handle(said(.decline(reason: "late"), first, from: ben), at: start)
            #expect(late == [.send(CallMessage(first, .ended(end)), to: ben)])
        }
    }

    @Test("The called peer accepts the caller's end, and confirms it each time")
    func calledAgrees() {
        let table: [(CallState, CallMessage.Content, CallEnd)] = [
            (.ringing, .cancel, CallEnd(by: ben, .cancelled)),
            (.ringing, .ended(CallEnd(by: anna, .missed)), CallEnd(by: anna, .missed)),
            (.connecting, .cancel, CallEnd(by: ben, .cancelled)),
            (.connecting, .ended(CallEnd(by: ben, .timedOut(.connecting))), CallEnd(by: ben, .timedOut(.connecting))),
            (.connected, .hangUp, CallEnd(by: ben, .hungUp)),
        ]
        for (state, content, end) in table {
            for hasProposed in [false, true] {
                var called = machine(state, isCaller: false)
                if hasProposed { _ = called.handle(.hangUp(first), at: start) }
                let actions = called.handle(said(content, first, from: ben), at: start)
                #expect(actions.contains(.tell(first, .ended(end))), "\(state), \(content): \(actions)")
                let again = called.handle(said(content, first, from: ben), at: start)
                #expect(again == [.send(CallMessage(first, .ended(end)), to: ben)])
            }
        }
    }

    @Test("Each step has a time-out, which ends the call in the name of the side that did not act")
    func timeouts() {
        let table: [(CallState, Bool, Duration, CallEnd)] = [
            (.calling, true, .seconds(10), CallEnd(by: ben, .timedOut(.reaching))),
            (.ringing, true, .seconds(30), CallEnd(by: ben, .missed)),
            (.connecting, true, .seconds(20), CallEnd(by: anna, .timedOut(.connecting))),
            // The called peer waits longer for the caller's message, then decides by itself.
            (.ringing, false, .seconds(35 + 8), CallEnd(by: anna, .missed)),
            (.connecting, false, .seconds(25 + 8), CallEnd(by: anna, .timedOut(.connecting))),
        ]
        for (state, isCaller, time, end) in table {
            var side = machine(state, isCaller: isCaller)
            var now = start
            while let deadline = side.deadline, deadline < start + time {
                now = max(now, deadline)
                _ = side.handle(.tick, at: now)
            }
            #expect(side.state(of: first) != .ended(end), "\(state)")
            _ = side.handle(.tick, at: start + time)
            #expect(side.state(of: first) == .ended(end), "\(state)")
        }
    }

    @Test("A second call gets busy, or waits if the policy permits; answering it hangs up the first")
    func secondCall() {
        var busy = CallPolicy()
        busy.secondCall = .busy(retryAfter: .seconds(7))
        var side = machine(.connected, isCaller: true, busy)
        var actions = side.handle(said(.invite, second, from: cleo), at: start)
        #expect(
            actions == [.send(CallMessage(second, .busy(retryAfter: .seconds(7))), to: cleo)], "it does not even ring")
        #expect(side.state(of: first) == .connected)

        var waiting = CallPolicy()
        waiting.secondCall = .waiting(1)
        side = machine(.connected, isCaller: true, waiting)
        #expect(side.handle(said(.invite, second, from: cleo), at: start) == [.ask(second, cleo)])
        _ = side.handle(.admit(second), at: start)
        actions = side.handle(.answer(second), at: start)
        #expect(actions.first == .closeMedia(first))
        #expect(actions.contains(.tell(first, .ended(CallEnd(by: anna, .hungUp)))))
        #expect(actions.last == .openMedia(second, cleo))

        // A side that is calling cannot place a second call.
        side = machine(.calling, isCaller: true)
        actions = side.handle(.place(second, cleo), at: start)
        #expect(actions == [.tell(second, .ended(CallEnd(by: anna, .busy(retryAfter: nil))))])
    }

    @Test("If two calls cross, the one with the lower ID continues, on both sides", arguments: [false, true])
    func crossing(_ isBehind: Bool) {
        let (mine, theirs) = isBehind ? (second, first) : (first, second)
        var side = CallStateMachine(CallPolicy(), localID: anna)
        _ = side.handle(.place(mine, ben), at: start)
        let actions = side.handle(said(.invite, theirs, from: ben), at: start)
        if isBehind {
            #expect(
                actions == [
                    .tellJoined(mine, into: theirs), .send(CallMessage(theirs, .accept), to: ben),
                    .tell(theirs, .connecting), .openMedia(theirs, ben),
                ])
        } else {
            #expect(actions == [])
            #expect(side.handle(said(.accept, mine, from: ben), at: start).contains(.openMedia(mine, ben)))
        }
        #expect(side.running == [first])
    }

    @Test("Calling a peer that already rings answers its call")
    func callBack() {
        var side = machine(.ringing, isCaller: false)
        let actions = side.handle(.place(second, ben), at: start)
        #expect(actions.first == .tellJoined(second, into: first))
        #expect(actions.contains(.openMedia(first, ben)))
    }

    @Test("A peer that leaves before media flows has time to come back; one that restarts ends the call")
    func vanishing() {
        for (state, isCaller) in [(CallState.calling, true), (.ringing, true), (.ringing, false), (.connecting, true)] {
            var side = machine(state, isCaller: isCaller)
            _ = side.handle(.absent(ben), at: start)
            _ = side.handle(.present(ben), at: start + .seconds(4))
            _ = side.handle(.tick, at: start + .seconds(6))
            #expect(side.running == [first], "\(state): it was back")
            _ = side.handle(.absent(ben), at: start + .seconds(1))
            _ = side.handle(.tick, at: start + .seconds(6))
            #expect(side.running == [], "\(state): it left")
        }
        var side = machine(.connected, isCaller: true)
        _ = side.handle(.absent(ben), at: start)
        _ = side.handle(.tick, at: start + .seconds(60))
        #expect(side.running == [first], "media tells whether it is there")
        _ = side.handle(.reset(ben), at: start + .seconds(60))
        #expect(side.state(of: first) == .ended(CallEnd(by: ben, .failed("The peer started again."))))
    }

    @Test("Messages of an unknown call make nothing ring, and two sides that know nothing fall silent")
    func strays() {
        var side = CallStateMachine(CallPolicy(), localID: anna)
        for content: CallMessage.Content in [
            .ringing, .accept, .decline(reason: nil), .busy(retryAfter: nil), .cancel, .hangUp,
        ] {
            let actions = side.handle(said(content, first, from: ben), at: start)
            guard case .send(let answer, ben)? = actions.first, case .ended = answer.content else {
                Issue.record("\(content): \(actions)")
                continue
            }
            #expect(side.handle(said(answer.content, first, from: ben), at: start) == [])
        }
        // Another peer cannot change a call.
        side = machine(.connected, isCaller: true)
        #expect(side.handle(said(.hangUp, first, from: cleo), at: start) == [])
        #expect(side.state(of: first) == .connected)
    }

    @Test("A flood of invitations keeps a bounded number of calls")
    func flood() throws {
        var side = machine(.connected, isCaller: true)
        for number in 0..<2000 {
            let peer = try PeerID("peer-\(number % 50)")
            _ = side.handle(said(.invite, try CallID("call-\(number)"), from: peer), at: start + .milliseconds(number))
        }
        for second in 1..<30 { _ = side.handle(.tick, at: start + .seconds(second)) }
        #expect(side.legs.count <= 64)
        #expect(side.running == [first])
    }
}
