import InletCore
import InletRTC
import Logging

// Unsafe: has a packet sink that one thread at a time calls.
/// Passes the source's own packets to viewers, if they can be sent unchanged.
///
/// `@unchecked Sendable`: a packet sink's methods are called on one thread at a time.
final class SourcePackets: PacketSink, @unchecked Sendable {
    private let hub: ViewerHub
    private let track: SentTrack
    private let logger: Logger
    private var gate: PassThroughGate
    private var parameterSets: [UInt8] = []
    private var offered: PassThroughGate.Stream?
    /// Whether packets still go to viewers that receive them, until these have switched to an encoding.
    private var drains = false
    private var obstacle: PassThroughGate.Obstacle?
    private let isAllowed: Bool
    private static let id = EncodingID(codec: .h264, tier: EncodingID.sourceTier)

    /// The limits for sent packets.
    struct Limits {
        var largestSize: ImageSize
        var bitrate: Int
        /// Whether packets of the source may be sent at all.
        var isAllowed: Bool
    }

    init(_ limits: Limits, _ track: SentTrack, hub: ViewerHub, logger: Logger) {
        gate = PassThroughGate(.init(largestSize: limits.largestSize, bitrate: limits.bitrate))
        isAllowed = limits.isAllowed
        self.track = track
        self.hub = hub
        self.logger = logger
    }

    func start(_ parameters: CodecParameters) {
        gate.start(parameters)
        drains = false
        parameterSets = parameters.extraData
        hub.restart(Self.id)
        offer()
    }

    func write(_ packet: EncodedPacket) {
        gate.add(packet)
        if packet.isKey || offered != nil || drains { offer() }
        if !track.isSending { drains = false }
        hub.lookAtSource(at: packet.captureTime)
        if offered != nil || drains {
            hub.write(packet, of: Self.id, parameterSets: parameterSets, rotation: .none)
        }
    }

    /// Notifies the hub of changes.
    private func offer() {
        var stream: PassThroughGate.Stream?
        switch gate.outcome {
        case .success(let found): stream = found
        case .failure(let refusal): note(refusal.obstacle)
        }
        // Pictures can be adapted, packets cannot.
        let adaptation = track.adaptation
        if !isAllowed || !track.isSending || adaptation.size != nil || adaptation.frameRate != nil {
            stream = nil
        }
        guard stream != offered else { return }
        if let stream, offered == nil {
            obstacle = nil
            logger.info(
                "The source's packets are sent to viewers unchanged.", metadata: ["bitrate": "\(stream.bitrate)"])
        }
        drains = stream == nil && canDrain
        offered = stream
        hub.setSource(stream)
    }

    /// Whether packets that arrive meanwhile are still of the kind that viewers receive.
    private var canDrain: Bool {
        switch gate.outcome {
        case .success: track.isSending
        case .failure(let refusal): track.isSending && [.rareKeyFrames, .bitrate].contains(refusal.obstacle)
        }
    }

    private func note(_ found: PassThroughGate.Obstacle) {
        guard found != .unknown, found != obstacle else { return }
        obstacle = found
        logger.info("The source's pictures are encoded for viewers: \(found.rawValue).")
    }

    func finish() { hub.setSource(nil) }
}

extension SourcePackets.Limits {
    init(_ configuration: WebRTCSinkConfiguration) {
        self.init(
            largestSize: configuration.largestSize, bitrate: configuration.rates.maximum,
            isAllowed: configuration.passesThrough && configuration.frameRate == nil
                && configuration.codecs.contains(.h264))
    }
}
