import InletCore
import InletRTC
import InletRTP

/// The way in which a codec is received: the caps of its RTP packets in GStreamer's notation. They contain only
/// numbers and constants.
struct ReceivingPipeline: Sendable {
    let codec: VideoCodec
    /// The way in which packets are joined to pictures.
    let format: RTPPayloadFormat
    private let name: String

    /// The launch text of the pipeline.
    ///
    /// - Parameter hold: the time that later packets wait for a missing one, which is requested again meanwhile.
    static func text(hold: Duration) -> String {
        // A single element would not be a pipeline.
        "pipeline.( webrtcbin name=web bundle-policy=max-bundle latency=\(max(0, hold.wholeNanoseconds / 1_000_000)) )"
    }

    /// - Returns: nil for a codec that cannot be received.
    init?(_ codec: VideoCodec) {
        self.codec = codec
        switch codec {
        case .h264: (name, format) = ("H264", .h264)
        case .hevc: (name, format) = ("H265", .h265(usesDONL: false))
        case .vp8: (name, format) = ("VP8", .vp8)
        case .vp9: (name, format) = ("VP9", .vp9)
        case .av1: (name, format) = ("AV1", .av1)
        default: return nil
        }
    }

    /// Returns the caps for answering an offer with a payload type.
    func caps(answering payload: Int) -> String {
        "application/x-rtp,media=(string)video,encoding-name=(string)\(name),clock-rate=(int)90000,"
            + "payload=(int)\(payload)"
    }

    /// The payload type and the numbers of the extensions in an offer of this side.
    static let offered = (payload: 96, transportWideSequence: 1, orientation: 2)

    /// The caps for an offer.
    var capsForOffer: String {
        caps(answering: Self.offered.payload)
            + ",rtcp-fb-nack=(boolean)true,rtcp-fb-nack-pli=(boolean)true,rtcp-fb-transport-cc=(boolean)true,"
            + "extmap-\(Self.offered.transportWideSequence)=(string)\"\(VideoOffer.transportWideSequence)\","
            + "extmap-\(Self.offered.orientation)=(string)\"\(VideoOffer.videoOrientation)\""
    }
}
