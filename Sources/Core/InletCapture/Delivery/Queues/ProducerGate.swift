import Dispatch
import InletCore
import Synchronization

/// A gate at which a capture thread waits for room in a lossless mailbox. A cancellation also opens it.
final class ProducerGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { semaphore.signal() }

    /// Returns once signalled; the caller then checks again for room, because the signal may be an old one.
    func wait() { semaphore.wait() }
}
