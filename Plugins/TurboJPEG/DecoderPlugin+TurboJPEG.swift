public import InletCore

extension DecoderPlugin {
    /// The decoder plug-in `decoder=turbojpeg`: libjpeg-turbo, for Motion JPEG.
    ///
    /// Its preference is lower than libavcodec's, because its pictures differ from those of the `ffmpeg` command by
    /// rounding.
    public static let turboJPEG = DecoderPlugin(
        "turbojpeg", summary: "libjpeg-turbo, for Motion JPEG.", preference: -1, decodes: { $0 == .mjpeg },
        makeDecoder: { try TurboJPEGVideoDecoder() })
}
