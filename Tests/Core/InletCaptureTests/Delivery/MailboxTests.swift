import InletCore
import Testing

@testable import InletCapture

@Suite struct MailboxTests {
    private static let policies: [QueuePolicy] = [
        .latest, .buffered(3, dropping: .oldest), .buffered(3, dropping: .newest), .lossless(100),
    ]

    private func mailbox(_ policy: QueuePolicy, limiter: RateLimiter? = nil) -> Mailbox<Int> {
        let mailbox = Mailbox<Int>()
        mailbox.open(policy: policy, limiter: limiter, room: ProducerGate())
        return mailbox
    }

    private func put(_ element: Int, into mailbox: Mailbox<Int>, onDrop: (Int, DropReason) -> Void = { _, _ in })
        -> Bool
    {
        mailbox.put(
            element, at: MonotonicTime(nanoseconds: Int64(element) * 100_000_000), isCancelled: { false },
            onDrop: onDrop)
    }

    @Test("A producer that waits for room continues when the mailbox closes")
    func closeFreesTheProducer() {
        let mailbox = mailbox(.lossless(1))
        #expect(put(1, into: mailbox))
        #expect(mailbox.close().dropped == 1)
        var dropped: [String] = []
        #expect(!put(2, into: mailbox) { dropped.append("\($0) \($1)") })
        #expect(dropped == ["2 cancelled"])
    }

    @Test(
        "However many elements arrive, the consumer is woken once each time that it fell asleep", arguments: policies)
    func oneWakeUp(_ policy: QueuePolicy) {
        let mailbox = mailbox(policy)
        for first in [1, 11, 21] {
            #expect(put(first, into: mailbox))
            #expect((first + 1..<first + 9).allSatisfy { !put($0, into: mailbox) })
            // The consumer is busy with the first element, and checks again before it sleeps.
            guard case .element = mailbox.take() else {
                Issue.record("nothing waits")
                return
            }
            #expect(!put(first + 9, into: mailbox))
            while case .element = mailbox.take() {}
        }
        #expect(mailbox.finish())
        #expect(!mailbox.finish())
        #expect(!mailbox.close().wakeConsumer)
    }

    @Test("An element that is put in late, older than the newest, is refused", arguments: policies)
    func order(_ policy: QueuePolicy) {
        let mailbox = mailbox(policy)
        var reasons: [DropReason] = []
        #expect(put(2, into: mailbox) { reasons.append($1) })
        #expect(!put(1, into: mailbox) { reasons.append($1) })
        #expect(reasons == [.outOfOrder])
        guard case .element(2) = mailbox.take() else {
            Issue.record("the newer element is gone")
            return
        }
        #expect(!put(1, into: mailbox) { reasons.append($1) })
        #expect(reasons == [.outOfOrder, .outOfOrder], "it is refused when the newer one has been taken, too")
        guard case .empty = mailbox.take() else {
            Issue.record("the older element came out")
            return
        }
    }

    @Test("An element over the rate is dropped with its reason, wakes no consumer, and takes no room")
    func rate() {
        let mailbox = mailbox(.lossless(2), limiter: RateLimiter(maximumFrameRate: Rational(2)))
        var reasons: [DropReason] = []
        #expect(put(0, into: mailbox) { reasons.append($1) })
        for element in 1...5 { #expect(!put(element, into: mailbox) { reasons.append($1) }) }
        #expect(reasons == [.rateLimited, .rateLimited, .rateLimited, .rateLimited])
        guard case .element(0) = mailbox.take(), case .element(5) = mailbox.take(), case .empty = mailbox.take() else {
            Issue.record("not the elements at 0 and 5 tenths of a second")
            return
        }
    }

    @Test("A source's policy and rate replace those from before the first source, and are then kept")
    func provisional() {
        let mailbox = Mailbox<Int>()
        let (room, slow) = (ProducerGate(), RateLimiter(maximumFrameRate: Rational(1, 60)))
        mailbox.open(policy: .latest, limiter: slow, room: room, isProvisional: true)
        #expect(put(1, into: mailbox))
        mailbox.open(policy: .lossless(3), limiter: nil, room: room)
        mailbox.open(policy: .latest, limiter: slow, room: room)
        mailbox.open(policy: .latest, limiter: slow, room: room, isProvisional: true)
        #expect((2...3).allSatisfy { !put($0, into: mailbox) })
        for expected in 1...3 {
            guard case .element(expected) = mailbox.take() else {
                Issue.record("\(expected) was lost")
                return
            }
        }
    }

    @Test("A mailbox that ends before it is opened stays ended")
    func endsBeforeOpening() {
        for close in [true, false] {
            let mailbox = Mailbox<Int>()
            #expect(close ? mailbox.close().wakeConsumer : mailbox.finish())
            mailbox.open(policy: .lossless(2), limiter: nil, room: ProducerGate())
            var reasons: [DropReason] = []
            #expect(!put(1, into: mailbox) { reasons.append($1) })
            #expect(reasons == [.cancelled])
            guard case .finished = mailbox.take() else {
                Issue.record("not finished")
                return
            }
        }
    }
}
