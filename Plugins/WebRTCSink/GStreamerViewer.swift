#if WebRTC
    import CGStreamer
    import Dispatch
    import InletCore
    import InletRTC

    /// Owns one viewer's pipeline: `appsrc ! payloader ! webrtcbin`.
    ///
    /// Safe from any thread. What it tells comes on threads of GStreamer's, which must not be held up. When the last
    /// owner lets go, it closes on a queue, as closing waits for those threads.
    @safe final class GStreamerViewer: Sendable {
        /// What a pipeline says.
        enum Event: Sendable {
            case remoteSet
            case localSet(String)
            case allFound
            case candidate(String, section: Int)
            case path(PeerSessionStateMachine.PathState)
            case wantsKeyFrame
            case feedback(Feedback)
            /// The far end has opened a data channel.
            case channel(DataChannel)
            case channelSaid(UInt, DataChannel.Event)
            case arrivals(Arrivals)
            case failed(String)
        }

        /// What the far end reported last.
        struct Feedback: Sendable, Equatable {
            /// The SSRC that it is about: that of the media or that of retransmissions. Each has its own counts.
            var source: UInt32
            /// Names the sender report that it has seen last.
            var report: UInt32
            /// How long ago it saw that, in 1/65536 s: another in each of its reports, also where no sender report gets
            /// through.
            var delay: UInt32
            /// Of the packets that it has seen, with wraps counted.
            var highestSequence: UInt32
            /// In total.
            var lost: Int
            var roundTrip: Duration
        }

        /// What the far end said of each packet, in sum.
        struct Arrivals: Sendable, Equatable {
            var expected: Int
            var lost: Int
            /// Bits a second, from the last arrival of the report before to the last of this; nil for the first.
            var bitrate: Int?
            /// The least time of arrival less time of sending, in nanoseconds between two clocks; nil where nothing
            /// came.
            var shortest: Int64?
            /// When the last of these packets was sent; nil where that is not known.
            var newest: MonotonicTime?
        }

        // Made in `init`, freed after `deinit`. GStreamer's own locks guard what is behind it.
        nonisolated(unsafe) private let viewer: UnsafeMutablePointer<inlet_gst_viewer>
        private let closing: DispatchGroup
        private let finder: ChannelFinder
        /// Whether packets say how far to turn pictures.
        let turns: Bool

        /// Loads GStreamer, once in a process.
        ///
        /// - Throws: ``InletError/Code/unsupported`` that names what is missing.
        static func load() throws(InletError) {
            guard let missing = unsafe inlet_gst_start() else { return }
            throw InletError(
                .unsupported,
                "GStreamer lacks \(unsafe String(cString: missing)). Install its plug-ins: Scripts/bootstrap --webrtc.",
                context: .init(operation: "gst_element_factory_find"))
        }

        /// Makes a pipeline and starts it.
        ///
        /// - Parameters:
        ///   - isRelayOnly: whether no path but that over a relay is used.
        ///   - address: where candidates are gathered; nil for all addresses of this machine, or its loopback's where
        ///     it has no other.
        ///   - closing: left when the pipeline is closed.
        ///   - orientation: the number of the header extension that says how far to turn pictures; nil where the far
        ///     end does not know it.
        ///   - longestMessage: over a data channel, in bytes.
        ///   - told: called on threads of GStreamer's.
        /// - Throws: ``InletError/Code/internal`` where GStreamer cannot; the log tells more.
        init(
            _ launch: String, servers: [ICEServer], isRelayOnly: Bool, address: String?, closing: DispatchGroup,
            orientation: Int?, longestMessage: Int,
            told: @escaping @Sendable (Event) -> Void
        ) throws(InletError) {
            let owner = unsafe Unmanaged.passRetained(Listener(told)).toOpaque()
            guard
                let viewer = unsafe inlet_gst_viewer_new(
                    launch, owner, Listener.told, Listener.arrived, Listener.release)
            else {
                throw InletError(
                    .internal, "GStreamer could not make a viewer's pipeline.",
                    context: .init(operation: "gst_parse_launch"))
            }
            unsafe self.viewer = viewer
            self.closing = closing
            turns = orientation != nil
            closing.enter()
            if let orientation { unsafe inlet_gst_orient(viewer.pointee.source, Int32(orientation)) }
            finder = ChannelFinder(longestMessage, told)
            unsafe inlet_gst_find_channels(
                viewer.pointee.web, Unmanaged.passRetained(finder).toOpaque(), ChannelFinder.found,
                ChannelFinder.release)
            unsafe inlet_gst_viewer_prepare(viewer, address ?? (inlet_gst_has_network() != 0 ? nil : "127.0.0.1"))
            for server in servers {
                if server.scheme == .stun {
                    unsafe inlet_gst_viewer_set_stun(viewer, server.engineURI)
                } else {
                    _ = unsafe inlet_gst_viewer_add_turn(viewer, server.engineURI)
                }
            }
            if isRelayOnly { unsafe inlet_gst_viewer_relay_only(viewer) }
            guard unsafe inlet_gst_viewer_play(viewer) != 0 else {
                throw InletError(
                    .internal, "GStreamer could not start a viewer's pipeline.",
                    context: .init(operation: "gst_element_set_state"))
            }
        }

        deinit {
            // The last owner's, on its way to the queue that frees it.
            nonisolated(unsafe) let viewer = unsafe viewer
            DispatchQueue.global().async { [closing] in
                unsafe inlet_gst_viewer_free(viewer)
                closing.leave()
            }
        }

        /// Sets the peer's description; ``Event/remoteSet`` follows.
        ///
        /// - Returns: false where it cannot be read.
        func setRemote(_ description: SessionDescription) -> Bool {
            let kind = description.kind == .offer ? inlet_gst_offer : inlet_gst_answered
            let text = description.sdp
            return unsafe inlet_gst_viewer_set_remote(viewer, kind, text, UInt32(text.utf8.count)) != 0
        }

        /// Makes an offer and sets it; ``Event/localSet(_:)`` follows.
        func makeOffer() { unsafe inlet_gst_viewer_offer(viewer) }

        /// Makes an answer and sets it; ``Event/localSet(_:)`` follows.
        func makeAnswer() { unsafe inlet_gst_viewer_answer(viewer) }

        /// Opens a data channel. Before the offer, as that says whether there are any.
        ///
        /// - Returns: nil where GStreamer has none.
        func openChannel(_ parameters: DataChannelParameters) -> DataChannel? {
            unsafe inlet_gst_channel_new(viewer.pointee.web, parameters.label, parameters.delivery == .ordered ? 1 : 0)
                .map { unsafe finder.channel($0) }
        }

        /// The own description with the candidates that were found; nil where there is none.
        var description: String? {
            guard let text = unsafe inlet_gst_viewer_describe(viewer) else { return nil }
            defer { unsafe g_free(text) }
            return unsafe String(cString: text)
        }

        func add(_ candidate: ICECandidate) {
            unsafe inlet_gst_viewer_add_candidate(viewer, UInt32(clamping: candidate.section), candidate.line)
        }

        /// Hands over a packet without a copy. Returns at once.
        func push(_ packet: borrowing SharedPacket) { unsafe packet.push(to: viewer) }

        /// Pictures from a time on are to be turned so far; ignored where the far end cannot.
        func turn(_ rotation: Rotation, from time: MonotonicTime) {
            guard turns else { return }
            unsafe inlet_gst_turn(
                viewer.pointee.source, UInt64(clamping: time.nanoseconds), UInt8(rotation.rawValue / 90))
        }

        /// How many of the packets that the far end lacks are sent again at once.
        ///
        /// - Parameter forgets: whether those that it has asked for so far are not.
        func limitResending(to packets: Int, forgets: Bool) {
            unsafe inlet_gst_viewer_limit_resending(viewer, UInt32(clamping: packets), forgets ? 1 : 0)
        }

        /// Packets that were handed over and are not sent.
        var queued: Int { Int(clamping: unsafe inlet_gst_viewer_queued(viewer)) }

        /// Asks for what the far end reports; ``Event/feedback(_:)`` follows where it does.
        func inquire() { unsafe inlet_gst_viewer_inquire(viewer, Listener.reported) }

        /// What has channels tell, and hands over those that the far end opens.
        private final class ChannelFinder: Sendable {
            let longest: Int
            let tell: @Sendable (Event) -> Void

            init(_ longest: Int, _ tell: @escaping @Sendable (Event) -> Void) {
                self.longest = longest
                self.tell = tell
            }

            static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
                guard let owner = unsafe owner else { return }
                unsafe Unmanaged<ChannelFinder>.fromOpaque(owner).release()
            }

            static let found: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<GObject>?) -> Void = {
                owner, channel in
                guard let owner = unsafe owner, let channel = unsafe channel else { return }
                let finder = unsafe Unmanaged<ChannelFinder>.fromOpaque(owner).takeUnretainedValue()
                // Listens before this returns, as its first message follows at once.
                unsafe finder.tell(.channel(finder.channel(channel)))
            }

            func channel(_ channel: UnsafeMutablePointer<GObject>) -> DataChannel {
                unsafe DataChannel(channel, longest: longest) { [tell] in tell(.channelSaid($0, $1)) }
            }
        }

        /// What GStreamer's callbacks hold. Not the pipeline, nor a session.
        private final class Listener: Sendable {
            let tell: @Sendable (Event) -> Void

            init(_ tell: @escaping @Sendable (Event) -> Void) { self.tell = tell }

            private static func at(_ owner: UnsafeMutableRawPointer?) -> Listener? {
                guard let owner = unsafe owner else { return nil }
                return unsafe Unmanaged<Listener>.fromOpaque(owner).takeUnretainedValue()
            }

            static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
                guard let owner = unsafe owner else { return }
                unsafe Unmanaged<Listener>.fromOpaque(owner).release()
            }

            static let reported: @convention(c) (UnsafeMutableRawPointer?, inlet_gst_feedback) -> Void = {
                owner, feedback in
                unsafe Listener.at(owner)?.tell(
                    .feedback(
                        Feedback(
                            source: feedback.source, report: feedback.last_report, delay: feedback.delay,
                            highestSequence: feedback.highest_sequence,
                            lost: Int(feedback.lost), roundTrip: .seconds(feedback.round_trip))))
            }

            static let arrived: @convention(c) (UnsafeMutableRawPointer?, inlet_gst_arrivals) -> Void = {
                owner, arrivals in
                let (bits, span) = (Double(arrivals.bits), Double(arrivals.span))
                unsafe Listener.at(owner)?.tell(
                    .arrivals(
                        Arrivals(
                            expected: Int(arrivals.expected), lost: Int(arrivals.lost),
                            bitrate: span > 0 ? Int(min(1e12, bits * 1e9 / span)) : nil,
                            shortest: arrivals.has_arrivals != 0 ? arrivals.shortest : nil,
                            newest: Int64(exactly: arrivals.newest).map(MonotonicTime.init(nanoseconds:)))))
            }

            static let told: @convention(c) (UnsafeMutableRawPointer?, Int32, Int32, UnsafePointer<CChar>?) -> Void = {
                owner, what, number, text in
                guard let listener = unsafe Listener.at(owner) else { return }
                let text = unsafe text.map { unsafe String(cString: $0) } ?? ""
                switch what {
                case inlet_gst_remote_set: listener.tell(.remoteSet)
                case inlet_gst_local_set: listener.tell(.localSet(text))
                case inlet_gst_all_found: listener.tell(.allFound)
                case inlet_gst_candidate: listener.tell(.candidate(text, section: Int(number)))
                case inlet_gst_wants_key: listener.tell(.wantsKeyFrame)
                case inlet_gst_error: listener.tell(.failed(text))
                default:
                    switch number {
                    case inlet_gst_connected: listener.tell(.path(.up))
                    case inlet_gst_disconnected: listener.tell(.path(.down))
                    case inlet_gst_failed: listener.tell(.path(.failed))
                    case inlet_gst_closed: listener.tell(.path(.closed))
                    default: break
                    }
                }
            }
        }
    }
#endif
