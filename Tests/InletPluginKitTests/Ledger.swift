import Synchronization

/// Counts what scripted sources make and end.
final class Ledger: Sendable {
    static let shared = Ledger()
    private let pictures = Atomic(0)
    private let closings = Atomic(0)

    func made() { pictures.add(1, ordering: .sequentiallyConsistent) }
    func freed() { pictures.subtract(1, ordering: .sequentiallyConsistent) }
    func closed() { closings.add(1, ordering: .sequentiallyConsistent) }

    /// How many pictures have memory now.
    var livePictures: Int { pictures.load(ordering: .sequentiallyConsistent) }
    /// How many sources were closed so far, but for those that do not listen.
    var closedSources: Int { closings.load(ordering: .sequentiallyConsistent) }
}
