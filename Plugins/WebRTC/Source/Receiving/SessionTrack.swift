import InletCore
import InletRTC
import Synchronization
import WebRTCEngine

/// The peer's track in a session that also sends a track to the peer. The session belongs to the application, and
/// continues when the source is closed.
///
/// While the peer sends nothing, the source is interrupted; it ends with the session.
final class SessionTrack: TrackOrigin {
    private let settings: TrackSettings
    private let codec: VideoCodec
    private let session: any PeerSession
    private var reader: Reader?

    /// - Parameter codec: the codec to read. The source ends if the peer sends another codec.
    init(_ session: any PeerSession, _ settings: TrackSettings, _ codec: VideoCodec) {
        (self.session, self.settings, self.codec) = (session, settings, codec)
    }

    /// Returns the codec that the session's peer sends; nil before it is known.
    static func codec(of session: any PeerSession) -> VideoCodec? {
        (session as? any RemoteTrackSession)?.remoteTrack.codec
    }

    var vacancy: String? { reader?.isOver ?? false ? nil : "the peer sends nothing" }

    func open(_ inbox: PacketInbox, _ context: SourceContext) throws(InletError) {
        guard let session = session as? any RemoteTrackSession else {
            throw InletError(.unsupported, "This kind of session cannot receive. Use a session of PeerPublisher.")
        }
        let reader = Reader(inbox, codec)
        try session.remoteTrack.read(by: reader, hold: settings.latency)
        self.reader = reader
        session.holdRemotePackets()
    }

    func requestKeyFrame() { (session as? any RemoteTrackSession)?.requestRemoteKeyFrame() }

    func close() {
        guard let reader, let session = session as? any RemoteTrackSession else { return }
        session.remoteTrack.stopReading(by: reader)
    }

    /// Puts packets of one codec into the inbox, with a separate inbox session for each of their payload types.
    private final class Reader: RemoteTrackReader {
        private struct State {
            /// The session in the inbox, and the payload type of its packets.
            var current: (number: Int, payload: UInt8)?
            var orientation: Int?
            var isOver = false

            /// - Returns: the number of the inbox session that was current.
            mutating func endCurrent() -> Int? {
                defer { current = nil }
                return current?.number
            }
        }
        private let inbox: PacketInbox
        private let codec: VideoCodec
        private let state = Mutex(State())

        init(_ inbox: PacketInbox, _ codec: VideoCodec) { (self.inbox, self.codec) = (inbox, codec) }

        /// Whether no more packets follow.
        var isOver: Bool { state.withLock { $0.isOver } }

        func began(_ stream: RemoteTrack.Stream) {
            let old = state.withLock { state in
                state.orientation = stream.orientation
                return state.endCurrent()
            }
            if let old { inbox.end(old, nil) }
        }

        func paused() {
            if let old = state.withLock({ $0.endCurrent() }) { inbox.end(old, nil) }
        }

        func take(
            _ packet: RawSpan, of format: (payload: UInt8, codec: VideoCodec)?, at time: MonotonicTime
        ) {
            if let format, format.codec != codec {
                return end(
                    InletError(
                        .formatChanged,
                        "The peer sends \(format.codec.rawValue) instead of \(codec.rawValue). "
                            + "Open the source again; a capture that retries does so."))
            }
            let number = state.withLock { state -> Int? in
                guard !state.isOver else { return nil }
                if let current = state.current, format.map({ $0.payload == current.payload }) ?? true {
                    return current.number
                }
                guard let format else { return nil }
                let number = inbox.begin(payloadType: format.payload, orientation: state.orientation)
                state.current = (number, format.payload)
                return number
            }
            if let number { inbox.put(packet, of: number, at: time) }
        }

        func ended(_ failure: InletError?) { end(failure) }

        private func end(_ failure: InletError?) {
            let (isNew, old) = state.withLock { state in
                defer { state.isOver = true }
                return (!state.isOver, state.endCurrent())
            }
            if let old { inbox.end(old, failure) } else if isNew { inbox.fail(failure) }
        }
    }
}
