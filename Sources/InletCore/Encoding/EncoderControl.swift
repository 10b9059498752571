import Synchronization

/// Changes an encoder while it runs, from any thread: how a bandwidth estimate or a new viewer reaches it.
///
/// What is asked for takes effect with the next frame. A wish that comes before it takes the place of an earlier one.
public final class EncoderControl: Sendable {
    /// What has been asked for since the last frame.
    struct Wishes: Sendable {
        var bitrate: Int?
        var frameRate: Rational?
        var wantsKeyFrame = false
    }

    private let wishes = Mutex(Wishes())
    private let refused = Mutex<InletError?>(nil)
    private let hasWishes = Atomic(false)

    public init() {}

    /// Asks for another mean, in bits a second, and for as many frames a second to come. Nil leaves one as it is.
    public func change(bitrate: Int? = nil, frameRate: Rational? = nil) {
        wishes.withLock { wishes in
            wishes.bitrate = bitrate ?? wishes.bitrate
            wishes.frameRate = frameRate ?? wishes.frameRate
        }
        hasWishes.store(true, ordering: .releasing)
    }

    /// Asks for a key frame. Requests are not throttled here; ``KeyFrameThrottle`` is for that.
    public func requestKeyFrame() {
        wishes.withLock { $0.wantsKeyFrame = true }
        hasWishes.store(true, ordering: .releasing)
    }

    /// Why the encoder did not follow the last change, such as ``InletError/Code/unsupported`` where it must be opened
    /// anew for that; nil where it did.
    public var refusal: InletError? { refused.withLock { $0 } }

    /// What is asked for, once.
    func take() -> Wishes? {
        guard hasWishes.exchange(false, ordering: .acquiring) else { return nil }
        return wishes.withLock { wishes in
            defer { wishes = Wishes() }
            return wishes
        }
    }

    func note(_ refusal: InletError?) { refused.withLock { $0 = refusal } }
}
