import InletCore
import Testing

@testable import InletCapture

@Suite struct MailboxStateMachineTests {
    @Test("latest keeps the newest and counts the replaced one as superseded")
    func latest() {
        var box = MailboxStateMachine<Int>(policy: .latest)
        guard case .stored(wakeConsumer: true, dropped: nil, _) = box.put(1) else {
            Issue.record("1 was not stored")
            return
        }
        guard case .stored(wakeConsumer: false, dropped: 1, reason: .superseded) = box.put(2) else {
            Issue.record("2 did not replace 1, or woke the consumer again")
            return
        }
        guard case .element(2, wakeProducer: false) = box.take() else {
            Issue.record("2 did not come out")
            return
        }
    }

    @Test("buffered drops the oldest or refuses the newest, as configured", arguments: QueuePolicy.Dropped.allCases)
    func buffered(_ dropped: QueuePolicy.Dropped) {
        var box = MailboxStateMachine<Int>(policy: .buffered(3, dropping: dropped))
        for element in 1...5 { _ = box.put(element) }
        var left: [Int] = []
        while case .element(let element, _) = box.take() { left.append(element) }
        #expect(left == (dropped == .oldest ? [3, 4, 5] : [1, 2, 3]))
    }

    @Test("lossless refuses when full, and wakes the producer once there is room")
    func lossless() {
        var box = MailboxStateMachine<Int>(policy: .lossless(2))
        for element in 1...2 { _ = box.put(element) }
        guard case .full = box.put(3) else {
            Issue.record("a third found room")
            return
        }
        guard case .element(1, wakeProducer: true) = box.take() else {
            Issue.record("the producer was not woken")
            return
        }
        guard case .stored = box.put(3) else {
            Issue.record("there was no room after all")
            return
        }
        guard case .element(2, wakeProducer: false) = box.take() else {
            Issue.record("woken for nothing")
            return
        }
    }

    @Test("After finish, waiting elements still come out; after close they do not, and a sleeping consumer is woken")
    func ends() {
        var box = MailboxStateMachine<Int>(policy: .lossless(2))
        _ = box.put(1)
        #expect(box.finish().wakeConsumer == false)
        guard case .refused(reason: .cancelled) = box.put(2) else {
            Issue.record("taken in after the end")
            return
        }
        guard case .element(1, _) = box.take(), case .finished = box.take() else {
            Issue.record("1 was lost")
            return
        }

        var closed = MailboxStateMachine<Int>(policy: .lossless(2))
        _ = closed.put(1)
        #expect(Array(closed.close().dropped) == [1])
        guard case .finished = closed.take() else {
            Issue.record("not finished")
            return
        }
        var idle = MailboxStateMachine<Int>(policy: .latest)
        #expect(idle.close().wakeConsumer)
    }
}
