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
        /// Nil only where the stream has no times.
        var pts: Int64?
        var duration: Int64?
        var isKey: Bool
        var offset: Int64
        var received: MonotonicTime?
    }

    private var parameters: CodecParameters?
    private let limits: InputLimits
    private var decodingTimes: DecodingTimes
    /// What was noted and has not been taken.
    private var waiting: [SourcePacket] = []
    /// The first packets of a stream that tells no decoding times; nil when enough were seen.
    private var held: [Held]? = []
    /// A key frame whose time the next packet tells.
    private var untimed: Held?
    /// No packet has a time: each is placed by its arrival.
    private var hasNoTimes = false
    /// What comes before the next key frame is of no use.
    private var awaitsKey = true
    /// That is because the times did not go on from those before.
    private var isOutOfOrder = false
    private var drops: [DropReason: UInt64] = [:]
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
        guard packet.isKey || !awaitsKey else {
            if isOutOfOrder { drop(.outOfOrder) }
            return
        }
        guard try followSize(of: packet, isLive: received != nil), let parameters else { return drop(.undecodable) }
        let next = Held(
            data: try EncodedPacketStorage(sharing: packet).data, pts: packet.pts ?? packet.dts,
            duration: packet.duration > 0 ? packet.duration : nil, isKey: packet.isKey, offset: offset,
            received: received)
        guard let pts = next.pts else { return putUntimed(next) }
        hasNoTimes = false
        if var first = untimed {
            untimed = nil
            let step = next.duration ?? parameters.usualTicks
            (first.pts, first.duration) = (pts &- step, next.duration)
            note(first, dts: packet.dts.map { $0 &- step })
        }
        note(next, dts: packet.dts)
    }

    /// The first packet of an RTSP stream may have no time: it is the one before the next one's. Where that has none either, the stream has no times,
    /// as that of Motion JPEG over HTTP.
    private mutating func putUntimed(_ packet: Held) {
        if let first = untimed {
            (untimed, hasNoTimes) = (nil, true)
            append(first, dts: nil)
        }
        if hasNoTimes {
            awaitsKey = false
            append(packet, dts: nil)
        } else if packet.isKey, decodingTimes.depth == 0 {
            (untimed, awaitsKey) = (packet, false)
        } else {
            drop(.outOfOrder)
            lose()
        }
    }

    /// Network streams are not looked into beforehand, and may change their size: key frames tell.
    ///
    /// - Returns: whether the size is known.
    private mutating func followSize(of packet: FFmpegPacket, isLive: Bool) throws(InletError) -> Bool {
        guard var parameters else { return false }
        guard packet.isKey, isLive || !parameters.size.isValid else { return parameters.size.isValid }
        let found = PacketInspection.size(in: packet, parameters, maximumPixels: limits.pixels)
        if let size = found, size != parameters.size {
            guard size.fits(in: limits.size) else { throw limits.refusal("A picture of \(size) has") }
            // What was told beforehand is of another size.
            if parameters.size.isValid { parameters.extraData = [] }
            parameters.size = size
        }
        if parameters.extraData.isEmpty {
            parameters.extraData = PacketInspection.parameterSets(in: packet, parameters.codec) ?? []
        }
        self.parameters = parameters
        return parameters.size.isValid
    }

    private mutating func note(_ packet: Held, dts: Int64?) {
        awaitsKey = false
        guard dts == nil, held != nil else { return handOut(packet, dts: dts) }
        held?.append(packet)
        if held?.count == Self.mostHeld { release() }
    }

    /// Hands out what waits for more packets to be seen.
    mutating func release() {
        if let untimed {
            self.untimed = nil
            append(untimed, dts: nil)
        }
        guard let packets = held, !packets.isEmpty else { return }
        held = nil
        decodingTimes.learn(from: packets.compactMap(\.pts))
        for packet in packets { handOut(packet, dts: nil) }
    }

    /// The stream's time steps back: what follows goes on from what came before, at times of its own.
    mutating func stepBack() {
        release()
        decodingTimes.reset()
    }

    private mutating func handOut(_ packet: Held, dts known: Int64?) {
        guard let pts = packet.pts, packet.isKey || !awaitsKey else { return drop(.outOfOrder) }
        // A key frame that does not go on from what came before begins anew.
        guard
            let dts = known ?? decodingTimes.next(pts: pts) ?? (packet.isKey ? decodingTimes.next(pts: pts) : nil)
        else {
            (awaitsKey, isOutOfOrder) = (true, true)
            return drop(.outOfOrder)
        }
        (awaitsKey, isOutOfOrder) = (false, false)
        append(packet, dts: dts)
    }

    private mutating func append(_ packet: Held, dts: Int64?) {
        guard let parameters else { return }
        func time(_ ticks: Int64) -> MediaTime {
            MediaTime(ticks: ticks &+ packet.offset, timeBase: parameters.timeBase)
        }
        var result = SourcePacket(
            parameters: parameters, data: packet.data, pts: packet.pts.map(time), dts: dts.map(time),
            duration: packet.duration.map { MediaTime(ticks: $0, timeBase: parameters.timeBase) },
            flags: packet.isKey ? .key : [])
        result.receiveTime = packet.received
        waiting.append(result)
    }

    private mutating func drop(_ reason: DropReason) { drops[reason, default: 0] += 1 }

    /// Packets that were left out since the last call, but for those before a key frame that is waited for after a loss, which whoever told of the loss
    /// counts.
    mutating func takeDrops() -> [DropReason: UInt64] {
        defer { if !drops.isEmpty { drops = [:] } }
        return drops
    }

    /// Something of the stream is missing: goes on with the next key frame.
    mutating func lose() {
        decodingTimes.reset()
        (untimed, awaitsKey, isOutOfOrder) = (nil, true, false)
        guard let held, !held.isEmpty else { return }
        drops[.damaged, default: 0] += UInt64(held.count)
        self.held = []
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
