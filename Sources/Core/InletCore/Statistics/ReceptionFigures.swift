/// The figures of a source's reception by RTP and of its requests for key frames. Counts cover the whole run.
public struct ReceptionFigures: Sendable, Hashable {
    /// Packets of the stream that were received in time, each once.
    public var packets: UInt64 = 0
    /// Packets that never came, or came too late.
    public var packetsLost: UInt64 = 0
    /// Packets that had been received before.
    public var packetsDuplicated: UInt64 = 0
    /// Packets that came after a later one, in time to be used in their place.
    public var packetsReordered: UInt64 = 0
    /// Packets that were lost, and came in time because the sender sent them again on request. They are not counted as
    /// lost.
    public var packetsRecovered: UInt64 = 0
    /// Packets that came after they had been given up. They are counted as lost, too.
    public var packetsLate: UInt64 = 0
    /// The interarrival jitter now (RFC 3550, section 6.4.1).
    public var jitter = Duration.zero
    /// Requests for a key frame: by RTCP (RFC 4585, section 6.3.1; RFC 5104, section 4.3.1) or by ONVIF.
    public var keyFrameRequests: UInt64 = 0
    /// Key frames that came within two seconds of the first request for them.
    public var keyFrameResponses: UInt64 = 0
    /// The sum of the times from the first request to the key frame, over ``keyFrameResponses``.
    public var keyFrameResponseTime = Duration.zero

    /// The change that an operator can make if lost packets keep pictures away; nil if every picture of the last minute
    /// was whole, or if the source changes its transport by itself.
    public var lossRemedy: LossRemedy?

    /// A change that an operator can make if lost packets keep pictures away.
    public enum LossRemedy: String, Sendable, Hashable, CaseIterable {
        /// The source is configured to stay with UDP.
        case useTCP
        /// The server refuses TCP, or TCP did not work before.
        case improveNetwork

        /// The remedies in words, with the options of `rtsp:`.
        public var text: String {
            let shows = "have damaged pictures shown with damage=show or damage=automatic."
            return switch self {
            case .useTCP: "Use transport=tcp, or \(shows)"
            case .improveNetwork: "TCP does not work with this server. Improve the network, or \(shows)"
            }
        }
    }

    /// Creates figures with all counts at zero.
    public init() {}

    /// The share of packets that were lost, from 0 to 1; nil before the first packet.
    public var lossShare: Double? {
        let all = Double(packets) + Double(packetsLost)
        return all > 0 ? Double(packetsLost) / all : nil
    }

    /// The share of packets that were lost as text, such as "1.3 %"; nil if it rounds to nothing.
    package var lossText: String? {
        let permille = Int(((lossShare ?? 0) * 1000).rounded())
        return permille > 0 ? "\(permille / 10).\(permille % 10) %" : nil
    }

    /// Returns the sum of the counts of two connections, with the jitter of the later one.
    package func followed(by later: Self) -> Self {
        var sum = later
        sum.packets &+= packets
        sum.packetsLost &+= packetsLost
        sum.packetsDuplicated &+= packetsDuplicated
        sum.packetsReordered &+= packetsReordered
        sum.packetsRecovered &+= packetsRecovered
        sum.packetsLate &+= packetsLate
        sum.keyFrameRequests &+= keyFrameRequests
        sum.keyFrameResponses &+= keyFrameResponses
        sum.keyFrameResponseTime += keyFrameResponseTime
        return sum
    }
}
