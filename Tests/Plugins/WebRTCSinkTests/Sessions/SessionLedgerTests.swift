#if GStreamer
import InletCore
import InletRTC
import Testing

@testable import WebRTCSink

@Suite("Counts of a sink's sessions")
struct SessionLedgerTests {
    @Test("A failure after the sink's end is not recorded: the counts agree with the sink's error")
    func settled() {
        let ledger = SessionLedger()
        #expect(ledger.settle().failure == nil)
        ledger.note(InletError(.connectionRefused, "Nobody listens."))
        #expect(ledger.figures.failure == nil)

        ledger.begin(SinkContext())
        ledger.note(InletError(.connectionRefused, "Nobody listens."))
        #expect(ledger.settle().failure?.code == .connectionRefused)
        ledger.note(InletError(.disconnected, "The sink ends the session."))
        #expect(ledger.figures.failure == "Nobody listens.")
    }

    @Test("A session that comes up clears the failure of the attempts before it")
    func cleared() {
        let ledger = SessionLedger()
        ledger.note(.connecting, of: "server")
        ledger.note(InletError(.connectionRefused, "Nobody listens."))
        #expect(ledger.figures.pending == 1)
        ledger.note(.connected, of: "server")
        #expect(ledger.figures.open == 1 && ledger.figures.opened == 1 && ledger.figures.failure == nil)
        let (opened, failure) = ledger.settle(isOver: false)
        #expect(opened == 1 && failure == nil)
        // The sink continues, and so do its counts.
        ledger.note(InletError(.disconnected, "The server is gone."))
        #expect(ledger.figures.failure == "The server is gone.")
    }
}
#endif
