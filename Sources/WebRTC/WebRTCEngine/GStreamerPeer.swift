import CGStreamerPeer
package import Dispatch
package import InletCore
package import InletRTC
import InletTLS
package import Logging
import Synchronization

// Unsafe: owns a peer's pipeline and the context of GStreamer's callbacks.
/// Owns one peer's pipeline: `appsrc ! payloader ! webrtcbin`, or only `webrtcbin` to receive.
///
/// Safe from any thread. Its events are called on GStreamer's threads, which must not be blocked. When the last
/// owner releases it, it closes on a queue, because closing waits for those threads.
@safe package final class GStreamerPeer: Sendable {
    /// An event of a pipeline.
    package enum Event: Sendable {
        case remoteSet
        case localSet(String)
        /// A further offer was made, and is not set.
        case offerMade(String)
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

    /// The last report of the far end.
    package struct Feedback: Sendable, Equatable {
        /// The SSRC of the report: the media's or the retransmissions'. Each has its own counts.
        package var source: UInt32
        /// Identifies the sender report that the far end received last.
        package var report: UInt32
        /// The time since that sender report arrived, in 1/65536 s: differs in each report, even if no further
        /// sender report arrives.
        package var delay: UInt32
        /// The highest sequence number received, with wraps counted.
        package var highestSequence: UInt32
        /// The total number of lost packets.
        package var lost: Int
        package var roundTrip: Duration
    }

    /// A summary of the far end's report on each packet.
    package struct Arrivals: Sendable, Equatable {
        package var expected: Int
        package var lost: Int
        /// The bits a second, from the last arrival of the previous report to the last of this one; nil for the
        /// first.
        package var bitrate: Int?
        /// The least difference of arrival and sending times, in nanoseconds between two clocks; nil if no packet
        /// arrived.
        package var shortest: Int64?
        /// The time when the last of these packets was sent; nil if unknown.
        package var newest: MonotonicTime?
    }

    // Made in `init`, freed after `deinit`. GStreamer's own locks guard the object.
    nonisolated(unsafe) let viewer: OpaquePointer
    private let closing: DispatchGroup
    private let finder: ChannelFinder
    /// The tunnels to relays over TLS.
    private let tunnels: [RelayTunnel]
    /// Whether packets state the rotation of pictures.
    package var turns: Bool { orientation != nil }
    /// The number of the header extension for the rotation of pictures.
    private let orientation: Int?
    /// The number of replacements of the chain so far; nil during one and after a failed one. Held locked
    /// while packets are pushed or counted, pictures are turned, or the source is replaced.
    private let format = Mutex<Int?>(0)

    /// Loads GStreamer, once per process.
    ///
    /// - Throws: ``InletError/Code/unsupported`` with the names of missing parts.
    package static func load() throws(InletError) {
        TLSLibrary.load()
        guard let missing = unsafe inlet_gst_start() else { return }
        let part = unsafe String(cString: missing)
        let message =
            part.isEmpty
            ? "This build has no WebRTC. Build with the package trait GStreamer: swift build --traits GStreamer."
            : "GStreamer has no \(part). Install its plug-ins: Scripts/bootstrap --webrtc."
        throw InletError(.unsupported, message, context: .init(operation: "gst_element_factory_find"))
    }

    /// Creates a pipeline and starts it.
    ///
    /// - Parameters:
    ///   - servers: at most one of STUN, because libnice asks only the last.
    ///   - relayTLS: how the certificate of a relay over TLS is checked.
    ///   - isRelayOnly: whether only paths over a relay are used.
    ///   - address: the address at which candidates are gathered; nil for all addresses of this machine, or its
    ///     loopback's if it has no other.
    ///   - closing: left when the pipeline is closed.
    ///   - orientation: the number of the header extension for the rotation of pictures; nil if the far end does
    ///     not support it.
    ///   - channelLimits: the limits of data channels.
    ///   - track: the receiver of the peer's video; nil if no video is received.
    ///   - told: called on GStreamer's threads.
    /// - Throws: ``InletError/Code/internal`` if GStreamer fails; the log has details.
    package init(
        _ launch: String, servers: [ICEServer], relayTLS: (ICEServer) -> RelayTLS, isRelayOnly: Bool,
        address: String?,
        closing: DispatchGroup, orientation: Int?, channelLimits: DataChannelLimits,
        track: ReceivedTrack? = nil, logger: Logger, told: @escaping @Sendable (Event) -> Void
    ) throws(InletError) {
        let owner = unsafe Unmanaged.passRetained(Listener(told)).toOpaque()
        guard
            let viewer = unsafe inlet_gst_viewer_new(
                launch, owner, Listener.told, Listener.arrived, Listener.release)
        else {
            throw InletError(
                .internal, "GStreamer could not make a peer's pipeline.",
                context: .init(operation: "gst_parse_launch"))
        }
        unsafe self.viewer = viewer
        self.closing = closing
        self.orientation = orientation
        closing.enter()
        if let orientation { unsafe inlet_gst_viewer_orient(viewer, Int32(orientation)) }
        finder = ChannelFinder(channelLimits, told)
        unsafe inlet_gst_viewer_set_longest_message(viewer, channelLimits.messageBytes)
        unsafe inlet_gst_viewer_find_channels(
            viewer, Unmanaged.passRetained(finder).toOpaque(), ChannelFinder.found,
            ChannelFinder.release)
        unsafe inlet_gst_viewer_prepare(viewer, address ?? (inlet_gst_has_network() != 0 ? nil : "127.0.0.1"))
        var tunnels: [RelayTunnel] = []
        for server in servers {
            switch server.scheme {
            case .stun: unsafe inlet_gst_viewer_set_stun(viewer, server.engineURI)
            case .turn: _ = unsafe inlet_gst_viewer_add_turn(viewer, server.engineURI)
            case .turns:
                // libnice has no TLS: it would send TURN over TCP to the port of TLS.
                let host = Self.tunnelHost(address)
                do throws(InletError) {
                    let tunnel = try RelayTunnel(to: server, relayTLS(server), host: host, logger: logger)
                    let place = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
                    _ = unsafe inlet_gst_viewer_add_turn(
                        viewer, server.engineURI(by: place, port: tunnel.port))
                    tunnels.append(tunnel)
                } catch {
                    logger.warning("\(error.about(server.uri))")
                }
            }
        }
        self.tunnels = tunnels
        if isRelayOnly { unsafe inlet_gst_viewer_relay_only(viewer) }
        if let track {
            let receiver = unsafe Unmanaged.passRetained(track).toOpaque()
            let isReceived = unsafe inlet_gst_viewer_receive(
                viewer, track.caps, receiver, ReceivedTrack.received, ReceivedTrack.crowded, ReceivedTrack.release)
            guard isReceived != 0 else {
                throw InletError(
                    .internal, "GStreamer cannot receive video\(track.caps.map { " in the format \($0)" } ?? "").",
                    context: .init(operation: "add-transceiver"))
            }
        }
        guard unsafe inlet_gst_viewer_play(viewer) != 0 else {
            throw InletError(
                .internal, "GStreamer could not start a peer's pipeline.",
                context: .init(operation: "gst_element_set_state"))
        }
    }

    /// The loopback address for tunnels to relays: of a family for which candidates are gathered, because libnice
    /// does not use others.
    private static func tunnelHost(_ address: String?) -> String {
        let isIPv6 = address.map { $0.utf8.contains(UInt8(ascii: ":")) } ?? (inlet_gst_has_ipv4() == 0)
        return isIPv6 ? "::1" : "127.0.0.1"
    }

    /// Why no tunnel to a relay over TLS could be made; nil if none failed.
    package var relayFailure: InletError? { tunnels.compactMap(\.failure).first }

    deinit {
        // The last owner's reference, passed to the queue that frees it.
        nonisolated(unsafe) let viewer = unsafe viewer
        DispatchQueue.global().async { [closing, tunnels] in
            unsafe inlet_gst_viewer_free(viewer)
            for tunnel in tunnels { tunnel.close() }
            closing.leave()
        }
    }

    /// Sets the peer's description; ``Event/remoteSet`` follows.
    ///
    /// - Returns: false if it cannot be read.
    package func setRemote(_ description: SessionDescription) -> Bool {
        let kind = description.kind == .offer ? inlet_gst_offer : inlet_gst_answered
        let text = description.sdp
        return unsafe inlet_gst_viewer_set_remote(viewer, kind, text, UInt32(text.utf8.count)) != 0
    }

    /// Makes an offer and sets it; ``Event/localSet(_:)`` follows.
    package func makeOffer() { unsafe inlet_gst_viewer_offer(viewer) }

    /// Makes a further offer without setting it; ``Event/offerMade(_:)`` follows.
    package func makeFurtherOffer() { unsafe inlet_gst_viewer_offer_further(viewer) }

    /// Sets a further offer that was made. Its answer is set next.
    ///
    /// - Returns: false if it cannot be read.
    package func setFurtherOffer(_ text: String) -> Bool {
        unsafe inlet_gst_viewer_set_further(viewer, text, UInt32(text.utf8.count)) != 0
    }

    /// Makes an answer and sets it; ``Event/localSet(_:)`` follows.
    package func makeAnswer() { unsafe inlet_gst_viewer_answer(viewer) }

    /// Opens a data channel. Call this before the offer, which states whether there are channels.
    ///
    /// - Returns: nil if GStreamer does not support data channels.
    package func openChannel(_ parameters: DataChannelParameters) -> DataChannel? {
        let bounds = parameters.delivery.bounds
        return unsafe inlet_gst_viewer_open_channel(
            viewer, parameters.label, parameters.delivery.isOrdered ? 1 : 0,
            Int32(clamping: bounds.retransmits), Int32(clamping: bounds.milliseconds)
        )
        .map { unsafe finder.channel($0) }
    }

    /// This side's description with the candidates that were found; nil before it is set.
    package var description: String? {
        guard let text = unsafe inlet_gst_viewer_describe(viewer) else { return nil }
        defer { unsafe inlet_gst_free(text) }
        return unsafe String(cString: text)
    }

    package func add(_ candidate: ICECandidate) {
        unsafe inlet_gst_viewer_add_candidate(viewer, UInt32(clamping: candidate.section), candidate.line)
    }

    /// Identifies the sent format: packets of another are rejected. Nil if none is sent.
    package var currentFormat: Int? { format.withLock { $0 } }

    /// Queues a packet without a copy, unless another format is sent by now. Returns at once.
    package func push(_ packet: borrowing SharedPacket, of format: Int?) {
        self.format.withLock { if $0 != nil, $0 == format { unsafe packet.push(to: viewer) } }
    }

    /// Sends another format from now on, in the same stream of packets. Waits for the packet that is being sent.
    ///
    /// - Parameters:
    ///   - chain: from an appsrc named `source` by a payloader named `payloader`.
    ///   - caps: the caps of the chain's output.
    /// - Returns: false if GStreamer cannot; nothing is sent then.
    package func replace(_ chain: String, sending caps: String) -> Bool {
        let last = format.withLock { format in
            defer { format = nil }
            return format
        }
        guard let last, unsafe inlet_gst_viewer_replace(viewer, chain, caps) != 0 else { return false }
        format.withLock { format in
            unsafe inlet_gst_viewer_use(viewer)
            if let orientation { unsafe inlet_gst_viewer_orient(viewer, Int32(orientation)) }
            format = last + 1
        }
        return true
    }

    /// Sets the rotation of pictures from a time on; ignored if the far end does not support it.
    package func turn(_ rotation: Rotation, from time: MonotonicTime) {
        guard turns else { return }
        format.withLock { format in
            guard format != nil else { return }
            unsafe inlet_gst_viewer_turn(
                viewer, UInt64(clamping: time.nanoseconds), UInt8(rotation.rawValue / 90))
        }
    }

    /// Limits how many of the packets that the far end requests are resent at once.
    ///
    /// - Parameter forgets: whether earlier requests are dropped.
    package func limitResending(to packets: Int, forgets: Bool) {
        unsafe inlet_gst_viewer_limit_resending(viewer, UInt32(clamping: packets), forgets ? 1 : 0)
    }

    /// The number of queued packets that were not sent yet.
    package var queued: Int {
        format.withLock { $0 == nil ? 0 : Int(clamping: unsafe inlet_gst_viewer_queued(viewer)) }
    }

    /// Requests the far end's last report; ``Event/feedback(_:)`` follows if there is one.
    package func inquire() { unsafe inlet_gst_viewer_inquire(viewer, Listener.reported) }

    /// Connects channels to the listener, and passes on those that the far end opens.
    private final class ChannelFinder: Sendable {
        let limits: DataChannelLimits
        let tell: @Sendable (Event) -> Void

        init(_ limits: DataChannelLimits, _ tell: @escaping @Sendable (Event) -> Void) {
            self.limits = limits
            self.tell = tell
        }

        static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
            guard let owner = unsafe owner else { return }
            unsafe Unmanaged<ChannelFinder>.fromOpaque(owner).release()
        }

        static let found: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = {
            owner, channel in
            guard let owner = unsafe owner, let channel = unsafe channel else { return }
            let finder = unsafe Unmanaged<ChannelFinder>.fromOpaque(owner).takeUnretainedValue()
            // Listens before this returns, because the first message follows at once.
            unsafe finder.tell(.channel(finder.channel(channel)))
        }

        func channel(_ channel: OpaquePointer) -> DataChannel {
            unsafe DataChannel(channel, limits: limits) { [tell] in tell(.channelSaid($0, $1)) }
        }
    }

    /// The object that GStreamer's callbacks hold. It holds neither the pipeline nor a session.
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
            case inlet_gst_offer_made: listener.tell(.offerMade(text))
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
