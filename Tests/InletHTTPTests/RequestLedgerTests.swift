import InletCore
import InletHTTP
import Testing

@Suite struct RequestLedgerTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("Five seconds' worth of requests come at once, then one in each of their intervals; others are not concerned")
    func rate() {
        var ledger = RequestLedger<Int>(rate: 10)
        for _ in 0..<50 { #expect(ledger.note(1, at: Self.time(0)) == nil) }
        #expect(ledger.note(1, at: Self.time(0)) == .milliseconds(100))
        #expect(ledger.note(2, at: Self.time(0)) == nil)
        #expect(ledger.note(1, at: Self.time(60)) == .milliseconds(40))
        // What was refused does not count: whoever waits as told is served.
        #expect(ledger.note(1, at: Self.time(100)) == nil)
        #expect(ledger.note(1, at: Self.time(100)) == .milliseconds(100))
        // A pause gives back no more than five seconds' worth.
        for _ in 0..<50 { #expect(ledger.note(1, at: Self.time(100_000)) == nil) }
        #expect(ledger.note(1, at: Self.time(100_000)) != nil)
    }

    @Test("Of any number of senders so many are remembered, and among them those that send most")
    func bound() {
        var ledger = RequestLedger<Int>(rate: 10)
        for _ in 0..<50 { _ = ledger.note(-1, at: Self.time(0)) }
        for sender in 0..<20_000 {
            #expect(ledger.note(sender, at: Self.time(1)) == nil)
            #expect(ledger.senders <= RequestLedger<Int>.mostSenders)
        }
        #expect(ledger.note(-1, at: Self.time(2)) == .milliseconds(98))
        // When all have rested, a newcomer takes the place of all.
        for sender in 0..<20_000 { _ = ledger.note(sender, at: Self.time(60_000)) }
        #expect(ledger.senders <= RequestLedger<Int>.mostSenders)
    }
}
