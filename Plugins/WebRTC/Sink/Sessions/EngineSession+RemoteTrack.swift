import Dispatch
import InletCore
import InletRTC
import WebRTCEngine

// The direction of the session, and the peer's pictures. On the session's queue.
extension EngineSession {
    /// The properties of the peer's last description.
    struct RemoteState {
        /// The direction stated in it.
        var direction = VideoSectionText.Direction(sends: true, receives: true)
        /// The SSRCs of its video; empty if it states none.
        var sources: [UInt32] = []
        /// The kind of the description; nil if the current engine has none.
        var kind: SessionDescription.Kind?
        /// Whether the current engine has descriptions of both sides.
        var isAgreed = false
    }

    /// Whether the engine supports both directions. The direction of a section in use cannot be changed. If
    /// further offers are possible, the engine therefore always states `sendrecv`, and descriptions state the
    /// wanted direction.
    var isTwoWay: Bool { environment.track != nil }

    /// The direction that descriptions state.
    var direction: VideoSectionText.Direction {
        VideoSectionText.Direction(sends: !isInactive, receives: isTwoWay && wanted.isReceiving)
    }

    /// Takes the direction from the peer's description, and rewrites the description for the engine.
    func takeDirection(of description: inout SessionDescription) {
        (description.sdp, remote.direction) = VideoSectionText.taken(description.sdp, isTwoWay: isTwoWay)
        // The peer of a withdrawn track answers like this.
        isWanted = remote.direction.receives || description.kind == .answer && isInactive
    }

    /// Passes the peer's description to the engine.
    func give(_ description: SessionDescription, to viewer: GStreamerPeer) throws(PeerSessionFailure) {
        remote.sources = VideoSectionText.sources(in: description.sdp)
        remote.kind = description.kind
        guard viewer.setRemote(description) else { throw .malformedDescription }
    }

    /// Starts receiving the peer's pictures if both sides want that. The engine must have both descriptions.
    func setReceiving() {
        guard isTwoWay, let viewer else { return }
        viewer.admit(remote.sources)
        remote.isAgreed = true
        showRemoteTrack()
    }

    /// The codecs of this session, by the payload types of both sides.
    private var codecsByPayload: [UInt8: VideoCodec] {
        var codecs: [UInt8: VideoCodec] = [:]
        for format in formats { codecs[UInt8(clamping: format.payload)] = format.codec }
        if let pipeline, let payload { codecs[UInt8(clamping: payload)] = pipeline.codec }
        return codecs
    }

    /// Starts or pauses the peer's track, depending on the directions.
    private func showRemoteTrack() {
        guard remote.isAgreed, wanted.isReceiving, remote.direction.sends, let pipeline else {
            return remoteTrack.pause()
        }
        remoteTrack.begin(
            RemoteTrack.Stream(codecs: codecsByPayload, orientation: extensions.orientation),
            agreed: pipeline.codec)
    }

    /// The time that the peer's packets wait for a missing one while they have no reader.
    static let usualHold = Duration.milliseconds(100)

    /// Sets the time that the peer's packets wait for a missing one to the reader's value. Returns at once.
    func holdRemotePackets() {
        queue.async { if let hold = self.remoteTrack.hold { self.viewer?.hold(hold) } }
    }

    /// Requests a key frame from the peer. Returns at once.
    func requestRemoteKeyFrame() { queue.async { self.viewer?.requestKeyFrame() } }
}
