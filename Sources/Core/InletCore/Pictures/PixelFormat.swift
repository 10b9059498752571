/// How the bytes of a native picture are laid out, by FFmpeg's name (`av_get_pix_fmt_name`).
///
/// An open set: any name that libavutil knows can be used and converted. The constants are those that sources produce
/// most and that have a dedicated conversion.
public struct PixelFormat: Sendable, Hashable, CustomStringConvertible {
    /// The name as FFmpeg spells it, such as `yuv420p`.
    public let name: String

    /// Makes a format by FFmpeg's name. Whether libavutil knows it is found out when a picture is converted.
    public init(_ name: String) { self.name = name }

    public var description: String { name }

    /// Planar 4:2:0, 8 bits: I420 itself. The range is that of the frame's colour space, or limited if unspecified.
    public static let yuv420p = PixelFormat("yuv420p")
    /// Planar 4:2:0, 8 bits, full range: I420 that uses 0-255.
    public static let yuvj420p = PixelFormat("yuvj420p")
    /// Planar 4:2:2, 8 bits.
    public static let yuv422p = PixelFormat("yuv422p")
    /// Planar 4:4:4, 8 bits.
    public static let yuv444p = PixelFormat("yuv444p")
    /// Y plane, then interleaved U and V at 4:2:0.
    public static let nv12 = PixelFormat("nv12")
    /// Y plane, then interleaved V and U at 4:2:0.
    public static let nv21 = PixelFormat("nv21")
    /// Packed 4:2:2: Y0 U Y1 V. V4L2 calls it YUYV.
    public static let yuyv422 = PixelFormat("yuyv422")
    /// Packed 4:2:2: U Y0 V Y1.
    public static let uyvy422 = PixelFormat("uyvy422")
    /// Bytes B, G, R, A in memory.
    public static let bgra = PixelFormat("bgra")
    /// Bytes R, G, B, A in memory.
    public static let rgba = PixelFormat("rgba")
    /// Bytes R, G, B in memory.
    public static let rgb24 = PixelFormat("rgb24")
    /// Bytes B, G, R in memory.
    public static let bgr24 = PixelFormat("bgr24")
    /// 8 bits of luma only.
    public static let gray = PixelFormat("gray")

    /// Whether the bytes are already I420, so that no conversion is needed.
    public var isI420: Bool { self == .yuv420p || self == .yuvj420p }
}
