import InletCore
import InletHTTPServer
import Testing

@Suite struct RequestLedgerTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("Five seconds' worth of requests are accepted at once, then one per interval; other clients are not affected")
    func rate() {
        var ledger = RequestLedger<Int>(rate: 10)
        for _ in 0..<50 { #expect(ledger.note(1, at: Self.time(0)) == nil) }
        #expect(ledger.note(1, at: Self.time(0)) == .milliseconds(100))
        #expect(ledger.note(2, at: Self.time(0)) == nil)
        #expect(ledger.note(1, at: Self.time(60)) == .milliseconds(40))
        // Refused requests do not count: a client that waits as requested is served.
        #expect(ledger.note(1, at: Self.time(100)) == nil)
        #expect(ledger.note(1, at: Self.time(100)) == .milliseconds(100))
        // A pause restores no more than five seconds' worth.
        for _ in 0..<50 { #expect(ledger.note(1, at: Self.time(100_000)) == nil) }
        #expect(ledger.note(1, at: Self.time(100_000)) != nil)
    }

    @Test("A limited number of senders is remembered, among them those that send most")
    func bound() {
        var ledger = RequestLedger<Int>(rate: 10)
        for _ in 0..<50 { _ = ledger.note(-1, at: Self.time(0)) }
        for sender in 0..<20_000 {
            #expect(ledger.note(sender, at: Self.time(1)) == nil)
            #expect(ledger.senders <= RequestLedger<Int>.mostSenders)
        }
        #expect(ledger.note(-1, at: Self.time(2)) == .milliseconds(98))
        // When all have rested, a new sender replaces them.
        for sender in 0..<20_000 { _ = ledger.note(sender, at: Self.time(60_000)) }
        #expect(ledger.senders <= RequestLedger<Int>.mostSenders)
    }
}
