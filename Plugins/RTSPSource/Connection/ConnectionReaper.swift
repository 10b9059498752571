import InletCore
import InletRTSP
import InletSystem
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Waits for the servers that have not answered TEARDOWN in time, so that closing a source need not.
///
/// A connection that is closed while bytes of the server are unread is reset, and a server may then drop the request
/// unread: the session would keep its place until it times out. So the rest is read and thrown away first.
enum ConnectionReaper {
    /// A connection on its way from one thread to another.
    private struct Handover: @unchecked Sendable {
        // Used by the one thread that takes it; the source's thread has let go of it.
        let connection: RTSPConnection
    }

    private static let count = Atomic(0)
    /// The most connections that are waited for at once; beyond that they are closed.
    private static let most = 16
    /// How long a server may take.
    private static let patience = Duration.seconds(2)

    /// Takes a connection over and closes it when the server has answered or ended it.
    static func take(_ connection: RTSPConnection) {
        guard count.load(ordering: .relaxed) < most else { return }
        count.add(1, ordering: .relaxed)
        let handover = Handover(connection: connection)
        do {
            try SystemThread.start(named: "inlet-teardown") {
                drain(handover.connection)
                count.subtract(1, ordering: .relaxed)
            }
        } catch {
            count.subtract(1, ordering: .relaxed)
        }
    }

    private static func drain(_ connection: RTSPConnection) {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end, !connection.hasEnded {
            var polled = connection.polled
            _ = unsafe poll(&polled, nfds_t(polled.count), 100)
            do throws(InletError) {
                try connection.flush()
                while ContinuousClock.now < end, try connection.read() {
                    while let event = try connection.next({ _, _, _ in }) {
                        if case .response(let answer) = event, !answer.isHTTP { return }
                    }
                }
            } catch {
                return
            }
        }
    }
}
