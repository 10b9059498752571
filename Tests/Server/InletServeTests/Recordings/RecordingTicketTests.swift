import InletCore
import Testing

@testable import InletServe

/// The end of a recording on request, and requests at that moment.
@Suite struct RecordingTicketTests {
    private func time(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

    private var ticket: RecordingTicket {
        RecordingTicket(camera: "door", cause: "api", asked: 1, end: time(10))
    }

    @Test("A request before the first packet after the end extends the recording, and none after it does")
    func packets() {
        let ticket = ticket
        #expect(ticket.admits(time(9)) && ticket.extend(to: time(20)) && ticket.end == time(20))
        #expect(ticket.extend(to: time(15)) && ticket.end == time(20), "it never becomes shorter")
        #expect(ticket.admits(time(19)) && !ticket.isClosed)
        #expect(!ticket.admits(time(20)) && ticket.isClosed)
        #expect(!ticket.extend(to: time(60)) && ticket.end == time(20))
        // A picture that arrives later, because of the coding order.
        #expect(ticket.admits(time(19)))
    }

    @Test("While no packets arrive, the recording ends after a grace period, unless a request extends it")
    func watch() {
        let ticket = ticket
        #expect(ticket.close(at: time(3), after: .seconds(2)) == .seconds(9))
        #expect(ticket.extend(to: time(20)))
        #expect(ticket.close(at: time(12), after: .seconds(2)) == .seconds(10))
        #expect(ticket.close(at: time(22), after: .seconds(2)) == nil && ticket.isClosed)
        #expect(!ticket.extend(to: time(60)))
    }

    @Test("A recording that fails or is stopped accepts no further request")
    func closed() {
        let ticket = ticket
        ticket.close()
        #expect(!ticket.extend(to: time(60)) && ticket.close(at: time(0), after: .zero) == nil)
    }
}
