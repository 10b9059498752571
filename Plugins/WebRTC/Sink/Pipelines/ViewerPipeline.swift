import CGStreamerPeer
import InletCore
import InletRTC

// Unsafe: looks up GStreamer elements.
/// The way in which a codec is sent: the text of a viewer's pipeline, derived from the viewer's offer. It contains
/// only numbers and constants.
struct ViewerPipeline: Sendable {
    let codec: VideoCodec
    private let input: String
    private let payloader: String
    private let options: String
    private let name: String

    /// - Returns: nil for a codec that GStreamer does not packetize.
    init?(_ codec: VideoCodec) {
        self.codec = codec
        switch codec {
        case .h264: (payloader, name) = ("rtph264pay", "H264")
        case .hevc: (payloader, name) = ("rtph265pay", "H265")
        case .vp8: (payloader, name) = ("rtpvp8pay", "VP8")
        case .vp9: (payloader, name) = ("rtpvp9pay", "VP9")
        default: return nil
        }
        if codec == .vp8 || codec == .vp9 {
            input = "video/x-\(codec)"
            options = "picture-id-mode=15-bit"
        } else {
            input = "video/x-\(name.lowercasedASCII),stream-format=byte-stream,alignment=au"
            options = "config-interval=-1 aggregate-mode=zero-latency"
        }
    }

    /// Whether the installed GStreamer has the payloader. GStreamer must have been loaded.
    var isAvailable: Bool { unsafe inlet_gst_has_element(payloader) != 0 }

    /// The parts of a pipeline that sends.
    struct Text: Sendable {
        fileprivate var elements: String
        /// The caps of the sent packets.
        var caps: String

        /// The whole pipeline.
        var pipeline: String { "webrtcbin name=web bundle-policy=max-bundle \(elements) ! \(caps) ! web." }

        /// The elements before webrtcbin, as a bin.
        var chain: String {
            "\(elements) ! capsfilter caps=\"\(caps.replacing("\"", with: "\\\""))\""
        }
    }

    /// Returns the pipeline's text. The SSRC is in the payloader and in the caps, because Chromium decodes but
    /// never shows an answer without it. It is also the RTP timestamp of time zero, which must be a random number.
    func text(payload: Int, source: UInt32, transportWideSequence: Int?, orientation: Int? = nil) -> Text {
        var caps =
            "application/x-rtp,media=video,encoding-name=\(name),clock-rate=90000,payload=\(payload),ssrc=(uint)\(source)"
        if let number = transportWideSequence {
            caps +=
                ",rtcp-fb-transport-cc=(boolean)true,extmap-\(number)=(string)\"\(VideoOffer.transportWideSequence)\""
        }
        if let orientation { caps += ",extmap-\(orientation)=(string)\"\(VideoOffer.videoOrientation)\"" }
        return Text(
            elements: """
                appsrc name=source is-live=true format=time caps="\(input)" \
                ! \(payloader) name=payloader \(options) pt=\(payload) ssrc=\(source) \
                timestamp-offset=\(source) mtu=1200
                """, caps: caps)
    }
}
