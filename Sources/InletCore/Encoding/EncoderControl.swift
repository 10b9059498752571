import Synchronization

/// Changes an encoder while it runs, from any thread: how a bandwidth estimate or a new viewer reaches it.
///
/// What is asked for takes effect with the next frame. A request that comes before it takes the place of an earlier
/// one.
public final class EncoderControl: Sendable {
    /// What has been asked for since the last frame.
    struct Requests: Sendable {
        var bitrate: Int?
        var frameRate: Rational?
        var wantsKeyFrame = false
    }

    private let requests = Mutex(Requests())
    private let refused = Mutex<InletError?>(nil)
    private let hasRequests = Atomic(false)

    public init() {}

    /// Asks for another mean, in bits a second, and for as many frames a second to come. Nil leaves one as it is.
    public func change(bitrate: Int? = nil, frameRate: Rational? = nil) {
        requests.withLock { requests in
            requests.bitrate = bitrate ?? requests.bitrate
            requests.frameRate = frameRate ?? requests.frameRate
        }
        hasRequests.store(true, ordering: .releasing)
    }

    /// Asks for a key frame. Requests are not throttled here; ``KeyFrameThrottle`` is for that.
    public func requestKeyFrame() {
        requests.withLock { $0.wantsKeyFrame = true }
        hasRequests.store(true, ordering: .releasing)
    }

    /// Why the encoder did not follow the last change, such as ``InletError/Code/unsupported`` where it must be opened
    /// anew for that; nil where it did.
    public var refusal: InletError? { refused.withLock { $0 } }

    /// What is asked for, once.
    func take() -> Requests? {
        guard hasRequests.exchange(false, ordering: .acquiring) else { return nil }
        return requests.withLock { requests in
            defer { requests = Requests() }
            return requests
        }
    }

    func note(_ refusal: InletError?) { refused.withLock { $0 = refusal } }
}
