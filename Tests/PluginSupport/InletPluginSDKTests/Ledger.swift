import Synchronization

/// Counts the pictures and closings of scripted sources.
final class Ledger: Sendable {
    static let shared = Ledger()
    private let pictures = Atomic(0)
    private let closings = Atomic(0)

    func made() { pictures.add(1, ordering: .sequentiallyConsistent) }
    func freed() { pictures.subtract(1, ordering: .sequentiallyConsistent) }
    func closed() { closings.add(1, ordering: .sequentiallyConsistent) }

    /// The number of pictures that currently have memory.
    var livePictures: Int { pictures.load(ordering: .sequentiallyConsistent) }
    /// The number of closed sources, except those that ignore cancellations.
    var closedSources: Int { closings.load(ordering: .sequentiallyConsistent) }
}
