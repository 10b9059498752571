import InletCore
import InletFFmpeg

/// Hands out packets as they are, beside decoding or instead of it.
struct PacketHandover {
    /// What becomes of a packet for the decoder.
    enum Fate {
        case decode
        /// No one takes pictures.
        case pass
        /// Someone takes pictures again: decode from this key frame on.
        case decodeAnew
    }

    /// A packet that waits until it is known how the stream's pictures are reordered.
    private struct Held {
        var data: PacketData
        var pts: Int64
        var duration: Int64?
        var isKey: Bool
        var offset: Int64
        var received: MonotonicTime?
    }

    private var parameters: CodecParameters?
    private let limits: InputLimits
    private var decodingTimes: DecodingTimes
    /// A few.
    private var waiting: [SourcePacket] = []
    /// The first packets of a stream that tells no decoding times; nil when enough were seen.
    private var held: [Held]? = []
    /// A key frame whose time the next packet tells.
    private var untimed: PacketData?
    /// What comes before the next key frame is of no use.
    private var awaitsKey = true
    private var hasPassed = false
    /// How many were handed out.
    private(set) var count: UInt64 = 0

    /// Encoders that reorder pictures show it within so many.
    private static let mostHeld = 9

    /// - Parameters:
    ///   - parameters: what the packets are; nil where that is not known, and none is handed out.
    ///   - reorderDepth: how many pictures the decoder holds back, as far as it knows.
    ///   - limits: packets of larger pictures are refused, as the pictures are.
    init(_ parameters: CodecParameters? = nil, reorderDepth: Int = 0, limits: InputLimits = InputLimits()) {
        self.parameters = parameters
        self.limits = limits
        decodingTimes = DecodingTimes(depth: reorderDepth, interval: parameters?.usualTicks ?? 1)
        if reorderDepth > 0 || parameters?.mayReorder == false { held = nil }
    }

    /// Notes a packet to be handed out next.
    ///
    /// - Parameters:
    ///   - offset: of this pass over a file, in ticks.
    ///   - received: when it was read, for a live stream, which may change as it goes; else nil.
    /// - Throws: ``InletError/Code/unsupported`` where its picture is larger than the limits allow; ``InletError/Code/resourceExhausted`` where
    ///   there is no memory.
    mutating func put(_ packet: FFmpegPacket, offset: Int64, received: MonotonicTime?) throws(InletError) {
        guard packet.isKey || !awaitsKey else { return }
        guard try followSize(of: packet, isLive: received != nil) else { return }
        guard let parameters else { return }
        let data = try EncodedPacketStorage(sharing: packet).data
        guard let pts = packet.pts ?? packet.dts else {
            // The first packet of an RTSP stream may have no time: it is the one before the next one's.
            guard packet.isKey, decodingTimes.depth == 0 else { return lose() }
            (untimed, awaitsKey) = (data, false)
            return
        }
        let duration = packet.duration > 0 ? packet.duration : nil
        let next = Held(
            data: data, pts: pts, duration: duration, isKey: packet.isKey, offset: offset, received: received)
        if let untimed {
            self.untimed = nil
            let step = duration ?? parameters.usualTicks
            var first = next
            (first.data, first.pts, first.isKey) = (untimed, pts &- step, true)
            note(first, dts: packet.dts.map { $0 &- step })
        }
        note(next, dts: packet.dts)
    }

    /// Network streams are not looked into beforehand, and may change their size: key frames tell.
    ///
    /// - Returns: whether the size is known.
    private mutating func followSize(of packet: FFmpegPacket, isLive: Bool) throws(InletError) -> Bool {
        guard var parameters else { return false }
        guard packet.isKey, isLive || !parameters.size.isValid else { return parameters.size.isValid }
        guard let size = PacketInspection.size(in: packet, parameters, maximumPixels: limits.pixels),
            size != parameters.size
        else { return parameters.size.isValid }
        guard size.fits(in: limits.size) else { throw limits.refusal("A picture of \(size) has") }
        // What was told beforehand is of another size: the parameters that stand before key frames count.
        if parameters.size.isValid { parameters.extraData = [] }
        parameters.size = size
        self.parameters = parameters
        return true
    }

    private mutating func note(_ packet: Held, dts: Int64?) {
        awaitsKey = false
        guard dts == nil, held != nil else { return handOut(packet, dts: dts) }
        held?.append(packet)
        if held?.count == Self.mostHeld { release() }
    }

    /// Hands out what waits for more packets to be seen.
    mutating func release() {
        guard let packets = held, !packets.isEmpty else { return }
        held = nil
        decodingTimes.learn(from: packets.map(\.pts))
        for packet in packets { handOut(packet, dts: nil) }
    }

    private mutating func handOut(_ packet: Held, dts known: Int64?) {
        guard let parameters, packet.isKey || !awaitsKey else { return }
        // A key frame that does not go on from what came before begins anew.
        guard
            let dts = known ?? decodingTimes.next(pts: packet.pts)
                ?? (packet.isKey ? decodingTimes.next(pts: packet.pts) : nil)
        else {
            awaitsKey = true
            return
        }
        awaitsKey = false
        let timeBase = parameters.timeBase
        var result = SourcePacket(
            parameters: parameters, data: packet.data,
            pts: MediaTime(ticks: packet.pts &+ packet.offset, timeBase: timeBase),
            dts: MediaTime(ticks: dts &+ packet.offset, timeBase: timeBase),
            duration: packet.duration.map { MediaTime(ticks: $0, timeBase: timeBase) }, isKey: packet.isKey)
        result.receiveTime = packet.received
        waiting.append(result)
    }

    /// Something of the stream is missing: goes on with the next key frame.
    mutating func lose() {
        decodingTimes.reset()
        (untimed, awaitsKey) = (nil, true)
        if held != nil { held = [] }
    }

    /// The next packet that was noted.
    mutating func take() -> SourcePacket? {
        guard !waiting.isEmpty else { return nil }
        count += 1
        return waiting.removeFirst()
    }

    /// - Parameter pictures: whether anyone takes them.
    mutating func fate(isKey: Bool, pictures: Bool) -> Fate {
        guard pictures else {
            hasPassed = true
            return .pass
        }
        guard hasPassed else { return .decode }
        guard isKey else { return .pass }
        hasPassed = false
        return .decodeAnew
    }
}

extension CodecParameters {
    /// The usual time from picture to picture, in ticks; that of 30 a second where no rate is known.
    fileprivate var usualTicks: Int64 {
        max(1, MediaTime(ticks: 1, timeBase: frameRate?.reciprocal ?? Rational(1, 30)).rescaled(to: timeBase).ticks)
    }

    /// Whether pictures may be shown in another order than they come in: not in H.264's baseline profile (66), nor where each stands for itself.
    fileprivate var mayReorder: Bool {
        switch codec {
        case .h264: profile.map { $0 & 0xff != 66 } ?? true
        case .hevc: true
        default: false
        }
    }
}
