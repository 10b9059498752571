import Synchronization

/// Whether the run was interrupted, shared between the signal's queue and the command.
final class InterruptFlag: Sendable {
    private let raised = Atomic(false)
    var isRaised: Bool { raised.load(ordering: .relaxed) }
    func raise() { raised.store(true, ordering: .relaxed) }
}
