import Synchronization

/// Changes an encoder while it runs, from any thread, as for a bandwidth estimate or a new viewer.
///
/// Requests take effect with the next frame. A later request before that frame replaces an earlier one.
public final class EncoderControl: Sendable {
    /// The requests since the last frame.
    struct Requests: Sendable {
        var bitrate: Int?
        var frameRate: Rational?
        var wantsKeyFrame = false
    }

    private let requests = Mutex(Requests())
    private let refused = Mutex<InletError?>(nil)
    private let hasRequests = Atomic(false)

    public init() {}

    /// Requests another mean bit rate, in bits a second, and the number of frames a second to expect. Nil leaves a
    /// value unchanged.
    public func change(bitrate: Int? = nil, frameRate: Rational? = nil) {
        requests.withLock { requests in
            requests.bitrate = bitrate ?? requests.bitrate
            requests.frameRate = frameRate ?? requests.frameRate
        }
        hasRequests.store(true, ordering: .releasing)
    }

    /// Requests a key frame. Requests are not throttled here; ``KeyFrameThrottle`` is for that.
    public func requestKeyFrame() {
        requests.withLock { $0.wantsKeyFrame = true }
        hasRequests.store(true, ordering: .releasing)
    }

    /// The reason why the encoder did not follow the last change, such as ``InletError/Code/unsupported`` if it must be
    /// reopened for that; nil if it did.
    public var refusal: InletError? { refused.withLock { $0 } }

    /// Returns the requests, once.
    func take() -> Requests? {
        guard hasRequests.exchange(false, ordering: .acquiring) else { return nil }
        return requests.withLock { requests in
            defer { requests = Requests() }
            return requests
        }
    }

    func note(_ refusal: InletError?) { refused.withLock { $0 = refusal } }
}
