public import InletCore

/// The names of a track in descriptions (`msid`, RFC 8830), by which peers distinguish tracks and recognize those that
/// belong together.
public struct TrackName: Sendable, Hashable {
    /// The name of the stream: a browser plays the tracks of one stream together.
    public var stream: String
    /// The name of the track within the stream.
    public var track: String

    /// Creates names.
    ///
    /// - Parameters:
    ///   - stream: the name of the stream. The default is `inlet`.
    ///   - track: the name of the track. The default is `video`.
    public init(stream: String = "inlet", track: String = "video") {
        self.stream = stream
        self.track = track
    }

    /// Checks the names.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a name that is empty, is longer than 64 bytes, or has a
    ///   character that is not allowed (RFC 8830, section 2: `token-char` of RFC 4566).
    public func validate() throws(InletError) {
        for name in [stream, track] {
            guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isAllowed) else {
                throw InletError(
                    .invalidConfiguration,
                    "A stream or track is named by 1 to 64 letters, digits and some signs such as - and _, without blanks."
                )
            }
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x30...0x39, 0x41...0x5a, 0x5e...0x7e: true
        default: false
        }
    }
}
