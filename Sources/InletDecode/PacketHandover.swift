import InletCore

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

    private let timeBase: Rational
    /// The usual time from picture to picture, in ticks.
    private let usualTicks: Int64
    private var decodingTimes: DecodingTimes
    /// What was noted and has not been taken.
    private var waiting: [SourcePacket] = []
    /// The first packets of a stream that tells no decoding times; nil when enough were seen.
    private var held: [SourcePacket]? = []
    /// A key frame whose time the next packet tells.
    private var untimed: SourcePacket?
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
    ///   - parameters: what the packets are.
    ///   - reorderDepth: how many pictures the decoder holds back, as far as it knows.
    init(_ parameters: CodecParameters, reorderDepth: Int = 0) {
        timeBase = parameters.timeBase
        usualTicks = parameters.usualTicks
        decodingTimes = DecodingTimes(depth: reorderDepth, interval: usualTicks)
        if reorderDepth > 0 || !parameters.mayReorder { held = nil }
    }

    /// Notes a packet to be handed out next.
    mutating func put(_ packet: SourcePacket) {
        guard packet.isKey || !awaitsKey else {
            if isOutOfOrder { drop(.outOfOrder) }
            return
        }
        // Network streams are not looked into beforehand: a key frame tells the size.
        guard packet.parameters.size.isValid else { return drop(.undecodable) }
        var next = packet
        next.pts = packet.pts ?? packet.dts
        guard let pts = next.pts?.ticks else { return putUntimed(next) }
        hasNoTimes = false
        if var first = untimed {
            untimed = nil
            let step = next.duration?.ticks ?? usualTicks
            (first.pts, first.duration) = (time(pts &- step), next.duration)
            first.dts = packet.dts.map { time($0.ticks &- step) }
            note(first)
        }
        note(next)
    }

    private func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: timeBase) }

    /// The first packet of an RTSP stream may have no time: it is the one before the next one's. Where that has none
    /// either, the stream has no times, as that of Motion JPEG over HTTP.
    private mutating func putUntimed(_ packet: SourcePacket) {
        if let first = untimed {
            (untimed, hasNoTimes) = (nil, true)
            waiting.append(first)
        }
        if hasNoTimes {
            awaitsKey = false
            waiting.append(packet)
        } else if packet.isKey, decodingTimes.depth == 0 {
            (untimed, awaitsKey) = (packet, false)
        } else {
            drop(.outOfOrder)
            lose()
        }
    }

    private mutating func note(_ packet: SourcePacket) {
        awaitsKey = false
        guard packet.dts == nil, held != nil else { return handOut(packet) }
        held?.append(packet)
        if held?.count == Self.mostHeld { release() }
    }

    /// Hands out what waits for more packets to be seen.
    mutating func release() {
        if let untimed {
            self.untimed = nil
            waiting.append(untimed)
        }
        guard let packets = held, !packets.isEmpty else { return }
        held = nil
        decodingTimes.learn(from: packets.compactMap { $0.pts?.ticks })
        for packet in packets { handOut(packet) }
    }

    /// The stream's time steps back: what follows goes on from what came before, at times of its own.
    mutating func stepBack() {
        release()
        decodingTimes.reset()
    }

    private mutating func handOut(_ packet: SourcePacket) {
        guard let pts = packet.pts?.ticks, packet.isKey || !awaitsKey else { return drop(.outOfOrder) }
        // A key frame that does not go on from what came before begins anew.
        guard
            let dts = packet.dts?.ticks ?? decodingTimes.next(pts: pts)
                ?? (packet.isKey ? decodingTimes.next(pts: pts) : nil)
        else {
            (awaitsKey, isOutOfOrder) = (true, true)
            return drop(.outOfOrder)
        }
        (awaitsKey, isOutOfOrder) = (false, false)
        var packet = packet
        packet.dts = time(dts)
        waiting.append(packet)
    }

    private mutating func drop(_ reason: DropReason) { drops[reason, default: 0] += 1 }

    /// Packets that were left out since the last call, but for those before a key frame that is waited for after a
    /// loss, which whoever told of the loss counts.
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

    /// Whether pictures may be shown in another order than they come in: not in H.264's baseline profile (66), nor
    /// where each stands for itself.
    fileprivate var mayReorder: Bool {
        switch codec {
        case .h264: profile.map { $0 & 0xff != 66 } ?? true
        case .hevc: true
        default: false
        }
    }
}
