public import InletCore
public import InletRTC
import WebRTCEngine

/// Publishes to a room of Janus's VideoRoom: `janus+wss://HOST/?room=ROOM`.
///
/// The session restarts, with increasing waits, whenever it fails, like that of ``WHIPSinkConfiguration``. The
/// rules for frames without a session, and for sessions that do not connect, are the same.
public struct JanusSinkConfiguration: FrameSinkConfiguration {
    /// The server, the room, and the data for joining it.
    public var room: JanusRoom
    /// This side's identifier in the room. The default, nil, lets the server choose one.
    public var id: String?
    /// The name that others see. The default, nil, sends no name.
    public var display: String?
    /// Pictures, rates, servers and times. Its address and token are not used.
    public var publishing: WHIPSinkConfiguration

    /// Creates a configuration with default values.
    ///
    /// - Parameters:
    ///   - room: the server and the room.
    ///   - makeEncoder: returns the encoder, such as `FFmpegVideoEncoder`.
    public init(_ room: JanusRoom, makeEncoder: @escaping @Sendable () -> any VideoEncoder) {
        self.room = room
        publishing = WHIPSinkConfiguration("http://janus.invalid/", makeEncoder: makeEncoder)
    }

    /// The sink's URI, without credentials.
    public var redactedURI: String { "janus+" + Redaction.redact(uri: "\(room.address)?room=\(room.room)") }

    /// Returns a sink with this configuration. Nothing is opened yet.
    public func makeSink() -> any FrameSink {
        WHIPSink(publishing, uri: redactedURI, trickles: true) { () throws(InletError) in
            JanusPublishing(room, id: id, display: display)
        }
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address or the room is invalid, or if numbers
    ///   contradict each other.
    public func validate() throws(InletError) {
        try JanusConnection.validate(room)
        try publishing.validate()
    }
}
