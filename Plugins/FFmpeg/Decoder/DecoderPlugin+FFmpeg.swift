public import InletCore
import InletFFmpeg

extension DecoderPlugin {
    /// The decoder plug-in `decoder=ffmpeg`: libavcodec's software decoders, for every codec that the installed
    /// libavcodec knows.
    public static let ffmpeg = DecoderPlugin.libavcodec
}
