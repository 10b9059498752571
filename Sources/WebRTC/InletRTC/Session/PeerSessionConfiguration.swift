public import InletCore

/// One side's wishes for a session, which may change while it runs: all simultaneous changes are one offer.
public struct PeerSessionConfiguration: Sendable, Hashable {
    /// The data channels that this side opens. One that is added is opened; one that is left out is closed.
    public var channels: [DataChannelParameters]
    /// Whether pictures are sent. The default is true.
    ///
    /// Together with ``isReceiving`` this is the direction that descriptions state (RFC 8866, 6.7): `sendrecv`,
    /// `sendonly`, `recvonly` or `inactive`. An answer states the part of it that the peer's offer allows.
    public var isSending = true
    /// Whether the peer's pictures are received, in the same media section that carries this side's: those of
    /// `RemoteTrackConfiguration`. The default is false.
    public var isReceiving = false
    /// The codecs of pictures, in order of preference: the first that the peer accepts is sent, and another from the
    /// next key frame on after a change. Empty for those of the publisher, in its order; each must be one of them. The
    /// default is empty.
    public var codecs: [VideoCodec] = []
    /// The names of the track.
    public var trackName: TrackName
    /// The highest bit rate to the peer, which descriptions state (RFC 3890); nil for the capacity of the path, up to
    /// the publisher's maximum. The default is nil.
    public var maximumBitrate: Int?

    /// Creates a configuration.
    public init(channels: [DataChannelParameters] = [], trackName: TrackName = TrackName()) {
        self.channels = channels
        self.trackName = trackName
    }

    /// Checks the configuration.
    ///
    /// - Parameters:
    ///   - limits: the limits of data channels.
    ///   - usable: the codecs that can be sent.
    /// - Throws: ``InletError/Code/invalidConfiguration`` for channels that the limits forbid, names that descriptions
    ///   cannot hold, a bit rate below 1,000, and codecs that cannot be sent or are listed twice.
    package func validate(_ limits: DataChannelLimits, codecs usable: [VideoCodec]) throws(InletError) {
        if let codec = codecs.first(where: { !usable.contains($0) }) {
            throw InletError(
                .invalidConfiguration,
                "The publisher cannot send \(codec.rawValue), only \(usable.map(\.rawValue).joined(separator: ", "))."
            )
        }
        guard Set(codecs).count == codecs.count else {
            throw InletError(.invalidConfiguration, "A codec stands twice in codecs.")
        }
        try limits.validate(opening: channels)
        try trackName.validate()
        if let maximumBitrate, maximumBitrate < 1000 {
            throw InletError(
                .invalidConfiguration, "A session has at least 1000 bits a second, not \(maximumBitrate).")
        }
    }
}
