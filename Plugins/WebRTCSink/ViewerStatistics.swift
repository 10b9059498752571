#if WebRTC
    public import InletCore
    public import InletRTC

    /// The statistics of one viewer. Counts start when it connects.
    public struct ViewerStatistics: Sendable, Hashable {
        /// The name of the viewer's session, which addresses messages to it. A secret: with it the session can be
        /// ended.
        public var viewer: String
        /// The state of the session.
        public var state: PeerSessionState
        /// The codec that is sent to the viewer.
        public var codec: VideoCodec
        /// The tier of the encoding sent to the viewer: 0 has the full size, 1 half of it, 2 a quarter, -1 is the
        /// source's own packets; nil before the first.
        public var tier: Int?
        /// The estimated bit rate that its path carries, in bits a second.
        public var bitrate: Int
        /// The round-trip time that the viewer reported last; nil before its first report.
        public var roundTrip: Duration?
        /// The number of packets that the viewer missed.
        public var packetsLost: Int
        /// The number of key-frame requests from the viewer.
        public var keyFrameRequests: Int
        /// The number of pictures that were sent to the viewer.
        public var framesSent: Int
        /// The number of pictures that were dropped, because the path was too slow or the viewer waited for a key
        /// frame.
        public var framesDropped: Int
        /// The number of messages received from the viewer.
        public var messagesReceived: Int
        /// The number of messages sent to the viewer.
        public var messagesSent: Int
        /// The number of messages that were not sent, because too many were queued or no channel was open for them.
        public var messagesDropped: Int
    }

    extension ViewerStatistics {
        /// Creates the statistics of a new viewer.
        init(viewer: String) {
            self.init(
                viewer: viewer, state: .new, codec: .h264, tier: nil, bitrate: 0, roundTrip: nil, packetsLost: 0,
                keyFrameRequests: 0, framesSent: 0, framesDropped: 0, messagesReceived: 0, messagesSent: 0,
                messagesDropped: 0)
        }
    }

    /// An event of a viewer.
    public enum ViewerEvent: Sendable {
        /// A viewer has connected and gets pictures; its session has this name.
        case joined(String)
        /// The statistics of a viewer, each second.
        case reported(ViewerStatistics)
        /// A session has ended, with its last statistics. It need not have joined.
        case left(ViewerStatistics, PeerSessionEnd)
        /// A data channel, which the viewer of this name has opened, is ready to send.
        case channelOpened(String, DataChannelParameters)
        /// A data channel of a viewer is no longer open.
        case channelClosed(String, DataChannelParameters)
        /// No more bytes wait on a viewer's data channel than ``DataChannelLimits/drainedBytes``, after more did.
        case channelDrained(String, DataChannelParameters)
    }
#endif
