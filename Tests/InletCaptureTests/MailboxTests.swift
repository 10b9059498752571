import InletCore
import Testing

@testable import InletCapture

@Suite struct MailboxTests {
    @Test("A producer that waits for room goes on when the mailbox closes")
    func closeFreesTheProducer() {
        let mailbox = Mailbox<Int>(policy: .lossless(1), room: ProducerGate()) {}
        mailbox.put(1, isCancelled: { false }) { _, _ in }
        #expect(mailbox.close() == 1)
        var reasons: [String] = []
        mailbox.put(2, isCancelled: { false }) { reasons.append("\($0) \($1)") }
        #expect(reasons == ["2 cancelled"])
    }
}
