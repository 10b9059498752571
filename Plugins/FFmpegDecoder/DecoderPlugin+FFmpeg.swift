public import InletCore
import InletFFmpeg

extension DecoderPlugin {
    /// `decoder=ffmpeg`: libavcodec's software decoders, for every codec that the installed libavcodec knows.
    public static let ffmpeg = DecoderPlugin.libavcodec
}
