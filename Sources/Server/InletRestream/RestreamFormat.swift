#if GStreamer
import InletCore
import InletServe

/// The format of a stream in GStreamer's terms. Pure.
struct RestreamFormat: Equatable {
    /// The caps of the packets.
    var caps: String
    /// The elements that put the packets into RTP. The last one must be called pay0 for gst-rtsp-server to find it.
    var payloader: String

    /// - Returns: nil for a codec without a payload format in RTP or an element in GStreamer.
    init?(_ beginning: RestreamBeginning) {
        let parameters = beginning.parameters
        // Whether the payloader adds parameter sets to each key frame.
        let sets = "config-interval=\(beginning.hasParameterSets ? 0 : -1)"
        var caps: [String]
        switch parameters.codec {
        case .h264:
            caps = ["video/x-h264", "alignment=au", Self.layout(parameters, record: "avc")]
            payloader = "rtph264pay \(sets)"
        case .hevc:
            caps = ["video/x-h265", "alignment=au", Self.layout(parameters, record: "hvc1")]
            payloader = "rtph265pay \(sets)"
        case .vp8: (caps, payloader) = (["video/x-vp8"], "rtpvp8pay picture-id-mode=2")
        case .vp9: (caps, payloader) = (["video/x-vp9", "alignment=frame"], "rtpvp9pay picture-id-mode=2")
        case .mjpeg: (caps, payloader) = (["image/jpeg"], "rtpjpegpay")
        default: return nil
        }
        if parameters.size.isValid {
            caps += ["width=\(parameters.size.width)", "height=\(parameters.size.height)"]
        }
        // RFC 2435: a JPEG's size is stated in eighths by one byte.
        if parameters.codec == .mjpeg {
            guard parameters.size.width <= 2040, parameters.size.height <= 2040 else { return nil }
        }
        self.caps = caps.joined(separator: ",")
        payloader += " name=pay0 pt=96"
    }

    private static func layout(_ parameters: CodecParameters, record: String) -> String {
        guard !parameters.hasStartCodes else { return "stream-format=byte-stream" }
        let digits = parameters.extraData.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        return "stream-format=\(record),codec_data=(buffer)\(digits.joined())"
    }
}
#endif
