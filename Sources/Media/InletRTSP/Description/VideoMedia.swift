package import InletCore

/// The video that was chosen from a session description: what its packets hold, and how to request them.
package struct VideoMedia: Sendable, Equatable {
    /// The offer of a server to send lost packets again on request.
    package struct Retransmission: Sendable, Equatable {
        /// The payload type of the packets that are sent again (RFC 4588); nil if the server repeats packets as they
        /// were.
        package var payloadType: UInt8?
        /// The time for which the server keeps packets; nil if it is not stated.
        package var time: Duration?

        package init(payloadType: UInt8? = nil, time: Duration? = nil) {
            (self.payloadType, self.time) = (payloadType, time)
        }
    }

    /// The codec; nil if it is a transport stream, or a codec that Inlet does not know.
    package var codec: VideoCodec?
    /// The name of the payload format in upper case, such as `H264` or `MP2T`; empty if it is not stated.
    package var encodingName: [UInt8]
    package var payloadType: UInt8
    /// All payload types of the media description, among them redundancy and other formats.
    package var payloadTypes: [UInt8]
    /// The ticks of the RTP timestamp per second, from 1000 to 1,000,000,000: as stated, or 90,000 if out of that
    /// range.
    package var clockRate: Int
    /// The parameter sets of H.264 (SPS, PPS) or H.265 (VPS, SPS, PPS) as NAL units without start codes. Empty if none
    /// are stated or they are incomplete: then they come within the stream.
    package var parameterSets: [[UInt8]]
    /// Whether each NAL unit of H.265 has a decoding order number before it (RFC 7798, section 7.1).
    package var usesDONL: Bool
    /// The packetization mode of H.264 (RFC 6184, section 8.1). The default is 0. Cameras state the wrong one.
    package var packetizationMode: Int
    /// The configuration of MPEG-4 part 2 (RFC 6416, section 7.1). Empty if the description has no configuration.
    package var config: [UInt8]
    /// The size of the pictures as stated, which need not be true.
    package var dimensionsHint: ImageSize?
    /// Frames a second as stated, which need not be true.
    package var frameRateHint: Double?
    /// Whether the server accepts picture loss indications (RFC 4585, section 6.3.1).
    package var supportsPLI: Bool
    /// Whether the server accepts full intra requests (RFC 5104, section 4.3.1).
    package var supportsFIR: Bool
    /// The way to request lost packets; nil if the server sends none again.
    package var retransmission: Retransmission?
    /// Whether the profile is the one with early feedback (RFC 4585, section 5): `RTP/AVPF` or `RTP/SAVPF`.
    package var usesFeedbackProfile: Bool
    /// Whether the packets are encrypted (SRTP, RFC 3711).
    package var isEncrypted: Bool
    /// Whether the packets hold an MPEG transport stream.
    package var isTransportStream: Bool
    /// The media description's `a=control`.
    package var control: [UInt8]?
    /// The address that the description states, for multicast.
    package var connection: SDP.Connection?
    /// The port that the description states; 0 if none.
    package var port: Int
    /// The only source of the packets that the description allows; nil if any.
    package var sourceFilter: [UInt8]?

    /// Whether the payload format is one that can be played.
    package var isKnown: Bool { codec != nil || isTransportStream }

    /// Returns whether another description is of the same stream.
    func isSame(as other: VideoMedia) -> Bool {
        control != nil && control == other.control && payloadType == other.payloadType
            && encodingName == other.encodingName
    }
}

extension SDP {
    /// The video to play.
    package enum VideoChoice: Sendable, Equatable {
        /// The first with a known codec and without encryption; failing that, the first at all.
        case first
        /// The one at this place among the videos, counted from 0.
        case at(Int)
    }

    /// Returns the chosen video; nil if the description has no such video.
    package func video(_ choice: VideoChoice = .first) -> VideoMedia? {
        let videos = media.filter { TextBytes.isSame($0.kind, ignoringCase: "video") }.map { VideoMedia($0, of: self) }
        switch choice {
        case .first:
            if let first = videos.first(where: { $0.isKnown && !$0.isEncrypted }) {
                // gst-rtsp-server describes a stream once for each profile that it offers, with the same control.
                return videos.first { $0.isSame(as: first) && $0.usesFeedbackProfile && !$0.isEncrypted } ?? first
            }
            // Some servers announce video by another name; its format tells.
            return (videos.isEmpty ? media.map { VideoMedia($0, of: self) }.first { $0.isKnown } : nil)
                ?? videos.first
        case .at(let index): return videos.indices.contains(index) ? videos[index] : nil
        }
    }
}
