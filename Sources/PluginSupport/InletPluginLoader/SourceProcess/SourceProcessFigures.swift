import Synchronization

/// The processes that ran a source, one after the other. Safe from any thread.
package final class SourceProcessFigures: Sendable {
    private struct State {
        var number: Int32?
        var starts = 0
    }

    private let state = Mutex(State())

    /// The id of the running process; nil without one.
    package var processID: Int32? { state.withLock { $0.number } }
    /// The number of processes started, including those that were closed on purpose.
    package var starts: Int { state.withLock { $0.starts } }

    func noteStart(_ number: Int32) {
        state.withLock { state in
            state.number = number
            state.starts += 1
        }
    }

    /// A source that is closed late may end after the next process has started.
    func noteEnd(_ number: Int32) { state.withLock { if $0.number == number { $0.number = nil } } }
}
