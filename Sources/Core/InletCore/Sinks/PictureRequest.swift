import Synchronization

/// Whether a sink that takes packets wants pictures as well. May change at any time. Safe from any thread.
public final class PictureRequest: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isWanted = true
        var onChange: (@Sendable () -> Void)?
    }

    /// Makes a request that wants pictures.
    public init() {}

    /// Whether pictures are wanted.
    public var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Sets whether pictures are wanted. Costs a lock if nothing changes. After a time without pictures they resume at
    /// the source's next key frame.
    public func set(_ isWanted: Bool) {
        let onChange = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isWanted != isWanted else { return nil }
            state.isWanted = isWanted
            return state.onChange
        }
        onChange?()
    }

    /// Sets the bridge's callback for each change.
    package func observe(_ onChange: (@Sendable () -> Void)?) { state.withLock { $0.onChange = onChange } }
}
