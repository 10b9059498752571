public import InletCore
public import InletRTC

/// The statistics of a viewer. Counts start when the viewer connects.
public struct ViewerStatistics: Sendable, Hashable {
    /// The name of the viewer's session, which addresses messages to it. A secret: the session can be ended with
    /// it.
    public var viewer: String
    /// The state of the session.
    public var state: PeerSessionState
    /// The codec sent to the viewer.
    public var codec: VideoCodec
    /// The tier of the encoding sent to the viewer: 0 has the full size, 1 half of it, 2 a quarter; -1 is the
    /// source's own packets. Nil before the first packet.
    public var tier: Int?
    /// The estimated bit rate that the viewer's path can carry, in bits per second.
    public var bitrate: Int
    /// The round-trip time that the viewer reported last; nil before its first report.
    public var roundTrip: Duration?
    /// The number of packets that the viewer missed.
    public var packetsLost: Int
    /// The number of key-frame requests from the viewer.
    public var keyFrameRequests: Int
    /// The number of pictures sent to the viewer.
    public var framesSent: Int
    /// The number of pictures dropped because the path was too slow or the viewer was waiting for a key frame.
    public var framesDropped: Int
    /// The number of messages received from the viewer.
    public var messagesReceived: Int
    /// The number of messages sent to the viewer.
    public var messagesSent: Int
    /// The number of messages that were not sent because too many were queued or no channel was open for them.
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
    /// A viewer has connected and gets pictures. Its session has this name.
    case joined(String)
    /// The statistics of a viewer, each second.
    case reported(ViewerStatistics)
    /// A session has ended, with its final statistics. It need not have joined.
    case left(ViewerStatistics, PeerSessionEnd)
    /// A data channel opened by the viewer with this name is ready to send.
    case channelOpened(String, DataChannelParameters)
    /// A data channel of a viewer is no longer open.
    case channelClosed(String, DataChannelParameters)
    /// The number of bytes waiting on a viewer's data channel has fallen to ``DataChannelLimits/drainedBytes``.
    case channelDrained(String, DataChannelParameters)
}
