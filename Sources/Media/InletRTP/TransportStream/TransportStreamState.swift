package import InletCore

/// The state of the search for video in a transport stream.
package enum TransportStreamState: Sendable, Hashable {
    /// No program map with video, or no readable content, has arrived yet.
    case unknown
    /// The programs so far have no video in a supported codec. The value is the types of their streams (ISO/IEC
    /// 13818-1, table 2-34).
    case unreadable(types: [UInt8])
    /// The video is encrypted.
    case scrambled
    /// The codec of the video is known.
    case known(VideoCodec)
    /// The codec of the video has changed. The stream has to be opened again.
    case changed
}
