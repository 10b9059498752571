public import InletCore

extension FilterPlugin {
    /// The filters of the installed libavfilter, which is loaded when the first picture is filtered.
    public static let ffmpeg = FilterPlugin(
        "ffmpeg", summary: "libavfilter's deinterlacing (bwdif) and tone mapping (zscale)."
    ) {
        try FFmpegPictureFilter($0)
    }
}
