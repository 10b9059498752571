/// A video codec by FFmpeg's name for it. An open set: an encoder plug-in may know others.
public struct VideoCodec: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The name, as `ffmpeg -codecs` lists it.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// ITU-T H.264, AVC.
    public static let h264 = VideoCodec(rawValue: "h264")
    /// ITU-T H.265, HEVC.
    public static let hevc = VideoCodec(rawValue: "hevc")
    /// RFC 6386.
    public static let vp8 = VideoCodec(rawValue: "vp8")
    /// The second of WebM's codecs.
    public static let vp9 = VideoCodec(rawValue: "vp9")
    /// AOMedia Video 1.
    public static let av1 = VideoCodec(rawValue: "av1")
    /// Motion JPEG: every frame a JPEG picture.
    public static let mjpeg = VideoCodec(rawValue: "mjpeg")
    /// RFC 9043: lossless.
    public static let ffv1 = VideoCodec(rawValue: "ffv1")

    /// The name.
    public var description: String { rawValue }
}
