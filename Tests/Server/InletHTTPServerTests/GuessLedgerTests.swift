import InletCore
import InletHTTPServer
import Testing

@Suite struct GuessLedgerTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test("A client's tokens are checked until ten were wrong, and again when the minute is over")
    func period() {
        var ledger = GuessLedger()
        let client = ClientAddress.ipv4(1)
        for second in 0..<10 {
            #expect(ledger.wait(of: client, at: Self.time(Int64(second))) == nil)
            ledger.note(client, at: Self.time(Int64(second)))
        }
        #expect(ledger.wait(of: client, at: Self.time(10)) == .seconds(50))
        #expect(ledger.wait(of: .ipv4(2), at: Self.time(10)) == nil)
        #expect(ledger.wait(of: client, at: Self.time(60)) == nil)
        ledger.note(client, at: Self.time(60))
        #expect(ledger.wait(of: client, at: Self.time(60)) == nil)
    }

    @Test("If many clients guess at once, the one with the most guesses is not forgotten")
    func many() {
        var ledger = GuessLedger()
        for _ in 0..<10 { ledger.note(.ipv4(0), at: Self.time(0)) }
        for client in 1...5000 { ledger.note(.ipv4(UInt32(client)), at: Self.time(1)) }
        #expect(ledger.wait(of: .ipv4(0), at: Self.time(2)) == .seconds(58))
    }
}
