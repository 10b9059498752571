import Foundation
public import InletCore
public import InletDecode
import InletRTC
import WebRTCEngine

/// The stream of a WHEP server: `whep+https://HOST/PATH`.
///
/// The source fails if no session connects, and when the session ends. The capture then retries according to its
/// policy.
public struct WHEPSourceConfiguration: PacketSourceConfiguration {
    /// The address to which the offer is sent, with `http:` or `https:`.
    public var url: String
    /// The bearer token, which is sent only to that server. The default is nil.
    public var token: String?
    /// The settings for receiving and decoding the track.
    public var track = TrackSettings()

    /// Creates a configuration with default values.
    ///
    /// - Parameters:
    ///   - url: the server's endpoint, with `http` or `https`.
    ///   - token: the bearer token. The default, nil, sends none.
    public init(_ url: String, token: String? = nil) {
        self.url = url
        self.token = token
    }

    /// The source's URI, without credentials.
    public var redactedURI: String { "whep+" + Redaction.redact(uri: url) }

    /// The configuration of decoding.
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
        RemoteTrackSource(track, uri: redactedURI) { pipeline in
            SignaledTrack(track, pipeline, role: .offering) { () throws(InletError) in
                WHIPChannel(try endpoint(), token: token)
            }
        }
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address or a value is invalid.
    public func validate() throws(InletError) {
        _ = try endpoint()
        try track.validate()
        if let token, !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) {
            throw InletError(.invalidConfiguration, "The token contains a space or non-ASCII characters.")
        }
    }

    private func endpoint() throws(InletError) -> URL {
        guard let url = WHIPChannel.endpoint(url) else {
            throw InletError(
                .invalidConfiguration,
                "A WHEP endpoint must be http://HOST/PATH or https://HOST/PATH, without a user. Set the token with token=."
            )
        }
        return url
    }
}
