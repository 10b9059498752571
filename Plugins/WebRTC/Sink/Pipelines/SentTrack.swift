import Dispatch
import InletCore
import InletRTC
import InletSystem
import Synchronization

/// The sessions over which a track is sent.
protocol TrackAudience: AnyObject, Sendable {
    /// Called in order, on the track's queue, when the state has changed.
    func trackChanged(to state: VideoTrackState)
}

/// The track of a sink: the application's settings and the source's condition, combined into one state. It exists
/// before the sink and outlives it. Safe from any thread.
final class SentTrack: VideoTrack {
    private struct State {
        var machine = VideoTrackStateMachine(patience: nil)
        var told = VideoTrackState(isPublished: false)
        var disabledPicture = DisabledPicture.black
        var size: ImageSize?
        var frameRate: Rational?
        /// The sessions of the running sink.
        weak var audience: (any TrackAudience)?
    }

    private let inner = Mutex(State())
    private let followers = Broadcaster<VideoTrackState>(limit: 64)
    /// Delivers changes in order.
    private let queue = DispatchQueue(label: "inlet.webrtc.track")

    var state: VideoTrackState { inner.withLock { $0.machine.state(at: .now) } }
    var states: AsyncStream<VideoTrackState> { followers.stream { [self.state] } }

    var isEnabled: Bool {
        get { inner.withLock { $0.machine.isEnabled } }
        set { change { $0.machine.isEnabled = newValue } }
    }

    var disabledPicture: DisabledPicture {
        get { inner.withLock { $0.disabledPicture } }
        set { inner.withLock { $0.disabledPicture = newValue } }
    }

    func publish() { change { $0.machine.isOffered = true } }
    func unpublish() { change { $0.machine.isOffered = false } }

    func adapt(to size: ImageSize?, frameRate: Rational?) throws(InletError) {
        try SinkWants(largestSize: size, maximumFrameRate: frameRate).validate()
        inner.withLock { ($0.size, $0.frameRate) = (size, frameRate) }
    }

    private func change(_ body: (inout State) -> Void) {
        inner.withLock { body(&$0) }
        queue.async { self.look() }
    }

    /// Reports changes, and checks again at the time of the next one. Called on the queue.
    private func look() {
        let now = MonotonicTime.now
        let (state, audience, deadline) = inner.withLock { inner in
            let state = inner.machine.state(at: now)
            defer { inner.told = state }
            return (state == inner.told ? nil : state, inner.audience, inner.machine.deadline)
        }
        if let deadline, deadline > now {
            let wait = (deadline - now).wholeNanoseconds
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait))) { [weak self] in self?.look() }
        }
        guard let state else { return }
        followers.send(state)
        audience?.trackChanged(to: state)
    }

    // MARK: The sink's side

    /// Called with the sink's sessions when it starts.
    func begin(_ audience: any TrackAudience, patience: Duration?) {
        change { inner in
            inner.audience = audience
            inner.machine.patience = patience
            inner.machine.begin()
        }
    }

    /// Called when the sink is about to end.
    func end() {
        change { inner in
            inner.audience = nil
            inner.machine.end()
        }
    }

    func sourceChanged(to condition: SourceCondition) {
        change { $0.machine.sourceChanged(to: condition, at: .now) }
    }

    /// The size and rate that override the configuration's.
    var adaptation: (size: ImageSize?, frameRate: Rational?) { inner.withLock { ($0.size, $0.frameRate) } }

    /// Whether pictures of the source are sent to peers.
    var isSending: Bool { inner.withLock { $0.machine.isSending(at: .now) } }

    /// Whether nothing at all is sent to peers.
    var isWithdrawn: Bool { inner.withLock { $0.machine.isWithdrawn(at: .now) } }
}
