#if WebRTC
    import Dispatch
    public import InletCore
    public import InletRTC
    import InletSystem
    import Synchronization

    /// Steers what viewers get of a ``WebRTCSinkConfiguration``'s sink while it runs, and speaks with them. Safe from
    /// any thread.
    ///
    ///     let sink = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
    ///     capturer.attach(sink)
    ///     sink.broadcast.isEnabled = false
    ///     for await message in sink.broadcast.messages { ... }
    ///
    /// It is there before the sink and outlives it. Where the capturer makes a failed sink anew, it goes on with the
    /// new one.
    public final class WebRTCBroadcast: VideoTrack {
        private struct State {
            var machine = VideoTrackStateMachine(patience: nil)
            var told = VideoTrackState(isPublished: false)
            var size: ImageSize?
            var frameRate: Rational?
            var totals = BroadcastTotals()
            /// Those of the sink that runs.
            weak var sessions: ViewerSessions?
        }

        private let inner = Mutex(State())
        private let followers = Broadcaster<VideoTrackState>(limit: 64)
        private let readers = Broadcaster<PeerMessage>(limit: 1024)
        private let watchers = Broadcaster<ViewerEvent>(limit: 1024)
        /// Has changes told in their order.
        private let queue = DispatchQueue(label: "inlet.webrtc.track")

        /// One that steers nothing yet.
        init() {}

        // MARK: The track

        /// What viewers get now.
        public var state: VideoTrackState { inner.withLock { $0.machine.state(at: .now) } }

        /// What viewers get from now on, beginning with now. Each call makes a sequence of its own, which keeps the
        /// newest 64 where it is not read.
        public var states: AsyncStream<VideoTrackState> { followers.stream { self.state } }

        /// Whether the application wants its pictures shown. Viewers get ``WebRTCSinkConfiguration/disabledPicture``
        /// where it does not. The default is true.
        public var isEnabled: Bool {
            get { inner.withLock { $0.machine.isEnabled } }
            set { change { $0.machine.isEnabled = newValue } }
        }

        /// Takes viewers again.
        public func publish() { change { $0.machine.isOffered = true } }

        /// Ends all sessions and takes none until ``publish()``. The page says that the camera is off, and comes back
        /// by itself.
        public func unpublish() { change { $0.machine.isOffered = false } }

        /// Sends pictures of at most this size and rate from now on, instead of the configuration's.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration`` for what cannot be.
        public func adapt(to size: ImageSize?, frameRate: Rational?) throws(InletError) {
            try SinkWants(largestSize: size, maximumFrameRate: frameRate).validate()
            inner.withLock { ($0.size, $0.frameRate) = (size, frameRate) }
        }

        private func change(_ body: (inout State) -> Void) {
            inner.withLock { body(&$0) }
            queue.async { self.look() }
        }

        /// Tells what has changed, and looks again when time alone changes something. On the queue.
        private func look() {
            let now = MonotonicTime.now
            let (state, sessions, deadline) = inner.withLock { inner in
                let state = inner.machine.state(at: now)
                defer { inner.told = state }
                return (state == inner.told ? nil : state, inner.sessions, inner.machine.deadline)
            }
            if let deadline, deadline > now {
                let wait = (deadline - now).wholeNanoseconds
                queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait))) { [weak self] in self?.look() }
            }
            guard let state else { return }
            followers.send(state)
            sessions?.trackChanged(to: state)
        }

        // MARK: The sink's side

        /// A sink runs, whose viewers these are.
        func begin(_ sessions: ViewerSessions, patience: Duration?) {
            change { inner in
                inner.sessions = sessions
                inner.machine.patience = patience
                inner.machine.begin()
            }
        }

        /// The sink is about to end.
        func end() {
            change { inner in
                inner.sessions = nil
                inner.machine.end()
            }
        }

        func sourceChanged(to condition: SourceCondition) {
            change { $0.machine.sourceChanged(to: condition, at: .now) }
        }

        /// What was asked for instead of the configuration's.
        var adaptation: (size: ImageSize?, frameRate: Rational?) { inner.withLock { ($0.size, $0.frameRate) } }

        // MARK: Viewers

        /// What is known of each viewer now. Takes microseconds for each.
        public var viewers: [ViewerStatistics] { inner.withLock { $0.sessions }?.statistics ?? [] }

        /// Who comes and goes and how they fare, from now on. Each call makes a sequence of its own, which keeps the
        /// newest 1024 where it is not read.
        public var viewerEvents: AsyncStream<ViewerEvent> { watchers.stream() }

        /// What happened so far to those who left, and to those who are there.
        var totals: (BroadcastTotals, [ViewerStatistics]) {
            let (totals, sessions) = inner.withLock { ($0.totals, $0.sessions) }
            return (totals, sessions?.statistics ?? [])
        }

        func tell(_ event: ViewerEvent) {
            inner.withLock { $0.totals.add(event) }
            watchers.send(event)
        }

        // MARK: Messages

        /// What viewers say over their data channels, from now on. Each call makes a sequence of its own, which keeps
        /// the newest 1024 where it is not read.
        ///
        /// A browser opens a channel with `peer.createDataChannel("name")` before it makes its offer.
        public var messages: AsyncStream<PeerMessage> { readers.stream() }

        func received(_ message: PeerMessage) { readers.send(message) }

        /// Sends a message over a data channel that the viewer has opened: the first with this delivery and label.
        /// Returns at once.
        ///
        /// It is dropped, and counted for the viewer, where there is no such channel, and where too much waits already:
        /// see ``DataChannelLimits/queuedBytes``.
        ///
        /// - Parameters:
        ///   - body: text or bytes.
        ///   - delivery: whether the channel keeps the order and loses nothing. The default is that it does.
        ///   - label: of the channel; nil for any.
        ///   - viewer: as ``PeerMessage/peer`` names it; nil for all.
        /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long,
        ///   ``InletError/Code/unsupported`` for an empty one, ``InletError/Code/notFound`` where there is no such
        ///   viewer.
        public func send(
            _ body: PeerMessage.Body, over delivery: DataDelivery = .ordered, labelled label: String? = nil,
            to viewer: String? = nil
        ) throws(InletError) {
            let sessions = inner.withLock { $0.sessions }
            try (sessions?.channelLimits ?? DataChannelLimits()).checkSendable(body)
            let isKnown = sessions?.send(body, over: delivery, labelled: label, to: viewer) ?? (viewer == nil)
            guard isKnown else {
                throw InletError(.notFound, "There is no such viewer any more.")
            }
        }
    }
#endif
