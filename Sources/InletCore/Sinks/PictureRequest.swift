import Synchronization

/// Whether a sink that takes packets wants pictures as well, which may change at any time. Safe from any thread.
public final class PictureRequest: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isWanted = true
        var onChange: (@Sendable () -> Void)?
    }

    /// Wants them, at first.
    public init() {}

    /// Whether they are wanted.
    public var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Says anew. Costs a lock where nothing changes. After a time without pictures they come from the source's next
    /// key frame on.
    public func set(_ isWanted: Bool) {
        let onChange = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isWanted != isWanted else { return nil }
            state.isWanted = isWanted
            return state.onChange
        }
        onChange?()
    }

    /// Has a bridge told of each change.
    package func observe(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }
}
