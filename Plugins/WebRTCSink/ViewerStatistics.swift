#if WebRTC
    public import InletCore
    public import InletRTC

    /// What is known of one viewer. Counts are since it came.
    public struct ViewerStatistics: Sendable, Hashable {
        /// The name of its session, by which messages go to it. A secret: with it the session can be ended.
        public var viewer: String
        /// How far its session is.
        public var state: PeerSessionState
        /// What it is sent.
        public var codec: VideoCodec
        /// Which encoding of its codec it is sent: 0 has the full size, 1 half of it, 2 a quarter, -1 is the source's
        /// own packets; nil before there is one.
        public var tier: Int?
        /// Bits a second that its path is thought to bear.
        public var bitrate: Int
        /// To the viewer and back, as it reported it last; nil before it has.
        public var roundTrip: Duration?
        /// Packets that it missed.
        public var packetsLost: Int
        /// Key frames that it asked for.
        public var keyFrameRequests: Int
        /// Pictures that were sent to it.
        public var framesSent: Int
        /// Pictures that were left out, as its path was too slow or it waited for a key frame.
        public var framesDropped: Int
        /// Messages that it sent.
        public var messagesReceived: Int
        /// Messages that were sent to it.
        public var messagesSent: Int
        /// Messages that were not sent, as too much waited or there was no channel for them.
        public var messagesDropped: Int
    }

    extension ViewerStatistics {
        /// Of one of whom nothing is known yet.
        init(viewer: String) {
            self.init(
                viewer: viewer, state: .new, codec: .h264, tier: nil, bitrate: 0, roundTrip: nil, packetsLost: 0,
                keyFrameRequests: 0, framesSent: 0, framesDropped: 0, messagesReceived: 0, messagesSent: 0,
                messagesDropped: 0)
        }
    }

    /// What happens to viewers.
    public enum ViewerEvent: Sendable {
        /// Pictures go to another viewer, whose session has this name.
        case joined(String)
        /// How a viewer fares, each second.
        case reported(ViewerStatistics)
        /// A session is over, and what was known of it. It need not have joined.
        case left(ViewerStatistics, PeerSessionEnd)
    }
#endif
