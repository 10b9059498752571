import Synchronization

/// A sink of pictures that hands on the source's packets as they are where it can, so that none is decoded for it.
///
/// It gets both while both are wanted: the pictures as every sink does, the packets on another thread. A source without packets gives it pictures alone, and so does
/// one that is not paced.
public protocol PassThroughSink: FrameSink {
    /// Makes what takes the packets. Called once, when the sink is attached. A live source does not wait for it: what it is too slow for is dropped up to the
    /// next key frame. One that throws gets no more, and pictures are wanted from then on.
    func makePacketSink() -> any PacketSink & Sendable

    /// Says whether pictures are wanted, too.
    var pictureWish: PictureWish { get }
}

/// Whether a sink that takes packets wants pictures as well, which may change at any time. Safe from any thread.
public final class PictureWish: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isWanted = true
        var onChange: (@Sendable () -> Void)?
    }

    /// Wants them, at first.
    public init() {}

    /// Whether they are wanted.
    public var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Says anew. Costs a lock where nothing changes. After a time without pictures they come from the source's next key frame on.
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
