import Dispatch
import InletCore
import InletSystem
import Synchronization

/// Keeps the session of a paused client alive on a separate thread. During a pause the source's thread does not call
/// the client, and without keep-alives a server ends the session.
///
/// The client belongs to that thread until ``stop()`` returns.
final class PauseKeeper: Sendable {
    private let signal: WakeUpSignal
    private let isStopped = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread for a paused client.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system has no descriptor or thread left.
    init(_ client: RTSPClient) throws(InletError) {
        signal = try WakeUpSignal()
        // Used only by the keeper's thread, until `stop` has waited for the thread's end.
        let handover = Handover(client)
        client.keeper = self
        do throws(InletError) {
            try SystemThread.start(named: "inlet-pause") {
                while !self.isStopped.load(ordering: .acquiring), handover.value.keepAliveInPause() {}
                self.ended.signal()
            }
        } catch {
            client.keeper = nil
            throw error
        }
    }

    /// A descriptor that becomes readable when the thread must end.
    var descriptor: Int32 { signal.descriptor }

    /// Ends the thread and waits until it no longer uses the client. Called once.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        signal.raise()
        ended.wait()
    }
}
