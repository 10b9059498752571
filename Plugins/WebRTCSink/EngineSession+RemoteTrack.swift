#if WebRTC
    import Dispatch
    import InletCore
    import InletRTC
    import InletWebRTC

    // The direction of the session, and what the peer sends. On the session's queue.
    extension EngineSession {
        /// What is known of the peer's last description.
        struct RemoteState {
            /// The direction that it states.
            var direction = VideoSectionText.Direction(sends: true, receives: true)
            /// The SSRCs of its video; empty if it names none.
            var sources: [UInt32] = []
            /// Which it is of the two; nil if the present engine has none.
            var kind: SessionDescription.Kind?
            /// Whether the present engine has descriptions of both sides.
            var isAgreed = false
        }

        /// Whether the engine is made for both directions: that of a section in use cannot be changed, so that it says
        /// `sendrecv` for good where there are further offers, and descriptions state what is wanted.
        var isTwoWay: Bool { environment.track != nil }

        /// The direction that descriptions state.
        var direction: VideoSectionText.Direction {
            VideoSectionText.Direction(sends: !isInactive, receives: isTwoWay && wanted.isReceiving)
        }

        /// Takes the direction of the peer's description, and rewrites it as the engine is to have it.
        func takeDirection(of description: inout SessionDescription) {
            (description.sdp, remote.direction) = VideoSectionText.taken(description.sdp, isTwoWay: isTwoWay)
            // The peer of a track that is withdrawn answers so.
            isWanted = remote.direction.receives || description.kind == .answer && isInactive
        }

        /// Gives the engine the peer's description.
        func give(_ description: SessionDescription, to viewer: GStreamerPeer) throws(PeerSessionFailure) {
            remote.sources = VideoSectionText.sources(in: description.sdp)
            remote.kind = description.kind
            guard viewer.setRemote(description) else { throw .malformedDescription }
        }

        /// Has the peer's pictures received from now on if both sides want that: the engine has both descriptions.
        func setReceiving() {
            guard isTwoWay, let viewer else { return }
            viewer.admit(remote.sources)
            remote.isAgreed = true
            showRemoteTrack()
        }

        /// The codecs of this session by the payload types of both sides.
        private var codecsByPayload: [UInt8: VideoCodec] {
            var codecs: [UInt8: VideoCodec] = [:]
            for format in formats { codecs[UInt8(clamping: format.payload)] = format.codec }
            if let pipeline, let payload { codecs[UInt8(clamping: payload)] = pipeline.codec }
            return codecs
        }

        /// Begins with the peer's track or pauses it, as the directions say.
        private func showRemoteTrack() {
            guard remote.isAgreed, wanted.isReceiving, remote.direction.sends, let pipeline else {
                return remoteTrack.pause()
            }
            remoteTrack.begin(
                RemoteTrack.Stream(codecs: codecsByPayload, orientation: extensions.orientation),
                agreed: pipeline.codec)
        }

        /// How long the peer's packets wait for one that is missing while nobody reads them.
        static let usualHold = Duration.milliseconds(100)

        /// Has the peer's packets wait for one that is missing as the reader wants. Returns at once.
        func holdRemotePackets() {
            queue.async { if let hold = self.remoteTrack.hold { self.viewer?.hold(hold) } }
        }

        /// Requests a key frame of the peer. Returns at once.
        func requestRemoteKeyFrame() { queue.async { self.viewer?.requestKeyFrame() } }
    }
#endif
