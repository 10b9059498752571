import Glibc
import InletCore
import InletRTSP
import InletSystem
import Synchronization

// Unsafe: waits in `poll`.
/// Waits for servers that have not answered SETUP or TEARDOWN in time, so that closing a source need not wait.
///
/// A session can be ended only once the response to SETUP has provided its identifier. If a connection is closed while
/// bytes from the server are unread, it is reset, and the server may then discard TEARDOWN unread: the session would
/// last until its time-out. Therefore the remaining bytes are first read and discarded.
enum ConnectionReaper {
    private static let count = Atomic(0)
    /// The maximum number of connections to wait for at once; additional ones are closed.
    private static let most = 16
    /// The time that a server may take to answer TEARDOWN.
    private static let patience = Duration.seconds(2)
    /// The time that a server may take to answer SETUP: the default of `connect-timeout`.
    private static let setupPatience = Duration.seconds(5)

    /// Takes over a connection and closes it when the server has ended the session or the connection.
    static func take(_ connection: RTSPConnection, _ session: RTSPSession, clock: any CaptureClock) {
        guard count.load(ordering: .relaxed) < most else { return }
        count.add(1, ordering: .relaxed)
        // The source's thread no longer uses it.
        let handover = Handover(connection)
        do {
            try SystemThread.start(named: "inlet-teardown") {
                drain(handover.value, session, clock)
                count.subtract(1, ordering: .relaxed)
            }
        } catch {
            count.subtract(1, ordering: .relaxed)
        }
    }

    private static func drain(_ connection: RTSPConnection, _ session: RTSPSession, _ clock: any CaptureClock) {
        var session = session
        var start = ContinuousClock.now
        while !session.isClosed, !connection.hasEnded {
            let end = start + (session.isAbandoningSetup ? setupPatience : patience)
            guard ContinuousClock.now < end else { return }
            var polled = connection.polled
            _ = unsafe poll(&polled, nfds_t(polled.count), 100)
            do throws(InletError) {
                try connection.flush()
                while ContinuousClock.now < end, try connection.read() {
                    while let event = try connection.next({ _, _, _ in }) {
                        guard case .response(let answer) = event else { continue }
                        // TEARDOWN follows a late response to SETUP, and has a separate time limit.
                        let wasAbandoning = session.isAbandoningSetup
                        defer { if wasAbandoning, !session.isAbandoningSetup { start = .now } }
                        for action in session.handle(.response(answer), at: clock.now) {
                            if case .send(let bytes) = action { try connection.send(bytes, at: clock.now) }
                        }
                    }
                    if session.isClosed { return }
                }
            } catch {
                return
            }
        }
    }
}
