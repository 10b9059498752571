public import InletCore
public import InletDecode
public import InletRTC
import WebRTCEngine

/// The stream of a participant in a room of Janus's VideoRoom: `janus+wss://HOST/?room=ROOM`.
///
/// The source fails if there is no publisher within ``TrackSettings/connectTimeout``, and when the session ends.
/// The capture then retries according to its policy.
public struct JanusSourceConfiguration: PacketSourceConfiguration {
    /// The server, the room, and the data for joining it.
    public var room: JanusRoom
    /// The identifier of the publisher. The default, nil, is the publisher with the name ``display``, or the first
    /// one.
    public var feed: String?
    /// The name of the publisher, if ``feed`` is nil. The default, nil, is any name.
    public var display: String?
    /// The settings for receiving and decoding the track.
    public var track = TrackSettings()

    /// Creates a configuration with default values.
    ///
    /// - Parameter room: the server and the room.
    public init(_ room: JanusRoom) { self.room = room }

    /// The source's URI, without credentials.
    public var redactedURI: String { "janus+" + Redaction.redact(uri: "\(room.address)?room=\(room.room)") }

    /// How the packets are decoded.
    public var decoding: DecodingSettings { track.decoding }

    /// The decoders that may be used.
    public var decoders: [DecoderPlugin] {
        get { track.decoders }
        set { track.decoders = newValue }
    }

    /// The name of the decoder to try first.
    public var decoder: String? { track.decoder }

    /// Returns a source that connects when it is opened.
    public func makePacketSource() -> any FrameSource {
        let wanted: JanusSubscription.Feed = feed.map { .id($0) } ?? display.map { .display($0) } ?? .first
        // Some time is left for the session, so that the error names the missing publisher.
        let wait = track.connectTimeout * 0.7
        return RemoteTrackSource(track, uri: redactedURI) { pipeline in
            SignaledTrack(track, pipeline, role: .answering) { () throws(InletError) in
                JanusSubscription(room, wanted, within: wait)
            }
        }
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address, the room or a value is invalid.
    public func validate() throws(InletError) {
        try JanusConnection.validate(room)
        try track.validate()
    }
}
