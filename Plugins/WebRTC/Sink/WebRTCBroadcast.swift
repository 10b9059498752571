public import InletCore
public import InletRTC
import InletSystem
import Synchronization
import WebRTCEngine

/// Controls the pictures that viewers get from a ``WebRTCSinkConfiguration``'s sink while it runs, and exchanges
/// messages with the viewers. Safe from any thread.
///
///     let sink = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
///     capturer.attach(sink)
///     sink.broadcast.isEnabled = false
///     for await message in sink.broadcast.messages { ... }
///
/// It exists before the sink and outlives it. If the capturer recreates a failed sink, it continues with the new
/// one.
public final class WebRTCBroadcast: VideoTrack {
    private struct State {
        var totals = BroadcastTotals()
        /// The sessions of the running sink.
        weak var sessions: ViewerSessions?
    }

    let track = SentTrack()
    private let inner = Mutex(State())
    private let readers = Broadcaster<PeerMessage>(limit: 1024)
    private let watchers = Broadcaster<ViewerEvent>(limit: 1024)

    /// Creates a broadcast without a sink.
    init() {}

    // MARK: The track

    /// The current state.
    public var state: VideoTrackState { track.state }

    /// The states from now on, starting with the current one. Each access returns a separate sequence, which keeps
    /// the latest 64 if it is not read.
    public var states: AsyncStream<VideoTrackState> { track.states }

    /// Whether the application wants its pictures shown. If not, viewers get ``disabledPicture``. The default is
    /// true.
    public var isEnabled: Bool {
        get { track.isEnabled }
        set { track.isEnabled = newValue }
    }

    /// The pictures for viewers while the track is not enabled. The default is ``DisabledPicture/black``.
    public var disabledPicture: DisabledPicture {
        get { track.disabledPicture }
        set { track.disabledPicture = newValue }
    }

    /// Accepts viewers again.
    public func publish() { track.publish() }

    /// Ends all sessions and accepts none until ``publish()``. The page states that the camera is off, and
    /// reconnects automatically.
    public func unpublish() { track.unpublish() }

    /// Limits pictures to a size and a rate from now on, instead of the configuration's.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for impossible values.
    public func adapt(to size: ImageSize?, frameRate: Rational?) throws(InletError) {
        try track.adapt(to: size, frameRate: frameRate)
    }

    // MARK: The sink's side

    /// Called with the sink's sessions when it starts.
    func begin(_ sessions: ViewerSessions, patience: Duration?) {
        inner.withLock { $0.sessions = sessions }
        track.begin(sessions, patience: patience)
    }

    /// Called when the sink is about to end.
    func end() {
        inner.withLock { $0.sessions = nil }
        track.end()
    }

    // MARK: Viewers

    /// The current statistics of each viewer. Takes microseconds for each.
    public var viewers: [ViewerStatistics] { inner.withLock { $0.sessions }?.statistics ?? [] }

    /// The events of viewers from now on: joining and leaving, statistics, and data channels. Each access returns
    /// a separate sequence, which keeps the latest 1024 if it is not read.
    public var viewerEvents: AsyncStream<ViewerEvent> { watchers.stream() }

    /// The totals over viewers that left, and the statistics of the current ones.
    var totals: (BroadcastTotals, [ViewerStatistics]) {
        let (totals, sessions) = inner.withLock { ($0.totals, $0.sessions) }
        return (totals, sessions?.statistics ?? [])
    }

    func tell(_ event: ViewerEvent) {
        inner.withLock { $0.totals.add(event) }
        watchers.send(event)
    }

    // MARK: Messages

    /// The viewers' messages over their data channels, from now on. Each access returns a separate sequence, which
    /// keeps the latest 1024 if it is not read.
    ///
    /// A browser opens a channel with `peer.createDataChannel("name")` before it makes its offer.
    public var messages: AsyncStream<PeerMessage> { readers.stream() }

    /// Passes news about a viewer's data channels to the listeners.
    func tell(_ news: PeerChannels.News, of viewer: String) {
        switch news {
        case .said(let message): readers.send(message)
        case .opened(let channel): watchers.send(.channelOpened(viewer, channel))
        case .closed(let channel): watchers.send(.channelClosed(viewer, channel))
        case .drained(let channel): watchers.send(.channelDrained(viewer, channel))
        }
    }

    /// Sends a message, which may be empty, over a data channel that the viewer has opened. Prefers the first
    /// channel with this label and exactly this delivery; otherwise uses the first one that keeps order and may
    /// lose messages in the same way. Returns at once.
    ///
    /// The message is dropped, and counted for the viewer, if no such channel is open, or if too much is already
    /// queued: see ``DataChannelLimits/queuedBytes``.
    ///
    /// - Parameters:
    ///   - body: text or bytes.
    ///   - delivery: the channel's guarantees. By default it keeps the order and loses nothing.
    ///   - label: the channel's label; nil for any.
    ///   - viewer: the viewer's name as in ``PeerMessage/peer``; nil for all viewers.
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is longer than
    ///   ``DataChannelLimits/messageBytes``, or than a viewer accepts; those that accept it get it.
    ///   ``InletError/Code/notFound`` if there is no such viewer.
    public func send(
        _ body: PeerMessage.Body, over delivery: DataDelivery = .ordered, labelled label: String? = nil,
        to viewer: String? = nil
    ) throws(InletError) {
        let sessions = inner.withLock { $0.sessions }
        try (sessions?.channelLimits ?? DataChannelLimits()).check(body)
        let isKnown = try sessions?.send(body, over: delivery, labelled: label, to: viewer) ?? (viewer == nil)
        guard isKnown else {
            throw InletError(.notFound, "The viewer no longer exists.")
        }
    }
}
