import InletCore

/// Passes packets on unchanged, in addition to decoding or instead of it.
struct PacketHandover {
    /// The treatment of a packet for the decoder.
    enum Fate {
        case decode
        /// Nobody takes pictures.
        case pass
        /// Pictures are wanted again: decode from this key frame on.
        case decodeAnew
    }

    private let timeBase: Rational
    /// The usual time from picture to picture, in ticks.
    private let usualTicks: Int64
    private var decodingTimes: DecodingTimes
    /// The packets that were noted and have not been taken.
    private var waiting: [SourcePacket] = []
    /// The first packets of a stream that states no decoding times; nil when enough have arrived.
    private var held: [SourcePacket]? = []
    /// A key frame whose time follows from the next packet.
    private var untimed: SourcePacket?
    /// Whether no packet has a time: each is placed by its arrival.
    private var hasNoTimes = false
    /// Whether packets before the next key frame are useless.
    private var awaitsKey = true
    /// Whether that is because the times did not continue from earlier ones.
    private var isOutOfOrder = false
    /// Whether that is because the key frame, or what follows it, is never shown.
    private var lacksHidden = false
    /// Packets whose pictures are never shown, until it is known whether others refer to them.
    private var hidden: [SourcePacket] = []
    private var drops: [DropReason: UInt64] = [:]
    private var hasPassed = false
    /// The number of packets passed on.
    private(set) var count: UInt64 = 0

    /// The number of packets within which encoders that reorder pictures show it.
    private static let mostHeld = 9

    /// - Parameters:
    ///   - parameters: the parameters of the packets.
    ///   - reorderDepth: how many pictures the decoder holds back, as far as it knows.
    init(_ parameters: CodecParameters, reorderDepth: Int = 0) {
        timeBase = parameters.timeBase
        usualTicks = parameters.usualTicks
        decodingTimes = DecodingTimes(depth: reorderDepth, interval: usualTicks)
        if reorderDepth > 0 || !parameters.mayReorder { held = nil }
    }

    /// The most pictures that are decoded before one that is shown earlier.
    private static let mostHidden = 16

    /// Records a packet to be passed on next.
    ///
    /// Containers have no mark for a picture that is never shown, so one is passed on only if the next packet may refer
    /// to it. If a key frame is never shown, packets are passed on from the next key frame that is.
    mutating func put(_ packet: SourcePacket) {
        guard packet.flags.contains(.hidden) else {
            // A key frame refers to nothing before it, and is not among the missing packets.
            let needed = packet.isKey || awaitsKey ? [] : hidden
            hidden = []
            if packet.isKey { lacksHidden = false }
            for packet in needed { putShown(packet) }
            return putShown(packet)
        }
        if !awaitsKey { hidden.append(packet) }
        guard packet.isKey || hidden.count > Self.mostHidden else { return }
        (awaitsKey, lacksHidden, hidden) = (true, true, [])
    }

    private mutating func putShown(_ packet: SourcePacket) {
        guard packet.isKey || !awaitsKey else {
            if lacksHidden { drop(.undecodable) } else if isOutOfOrder { drop(.outOfOrder) }
            return
        }
        // Network streams are not examined in advance: a key frame shows the size.
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

    /// The first packet of an RTSP stream may have no time: it is one interval before the next packet's. If the next
    /// packet has no time either, the stream has no times, as with Motion JPEG over HTTP.
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

    /// Passes on the packets that wait for more to arrive.
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

    /// Records that the stream's time steps back: what follows continues from what came before, at new times.
    mutating func stepBack() {
        release()
        decodingTimes.reset()
    }

    private mutating func handOut(_ packet: SourcePacket) {
        guard let pts = packet.pts?.ticks, packet.isKey || !awaitsKey else { return drop(.outOfOrder) }
        // A key frame that does not continue from earlier packets starts over.
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

    /// Returns the packets that were skipped since the last call, except those before a key frame that is awaited
    /// after a loss, which the code that reported the loss counts.
    mutating func takeDrops() -> [DropReason: UInt64] {
        defer { if !drops.isEmpty { drops = [:] } }
        return drops
    }

    /// Records that a part of the stream is missing: continues with the next key frame.
    mutating func lose() {
        decodingTimes.reset()
        (untimed, awaitsKey, isOutOfOrder, hidden) = (nil, true, false, [])
        guard let held, !held.isEmpty else { return }
        drops[.damaged, default: 0] += UInt64(held.count)
        self.held = []
    }

    /// Returns the next packet that was noted.
    mutating func take() -> SourcePacket? {
        guard !waiting.isEmpty else { return nil }
        count += 1
        return waiting.removeFirst()
    }

    /// - Parameter pictures: whether any sink takes pictures. Otherwise, packets are still decoded until the first
    ///   packet can be passed on, so that the source is not silent until a key frame.
    mutating func fate(isKey: Bool, pictures: Bool) -> Fate {
        guard pictures || awaitsKey && !hasPassed else {
            hasPassed = true
            return .pass
        }
        guard hasPassed else { return .decode }
        guard isKey else { return .pass }
        hasPassed = false
        return .decodeAnew
    }

    /// Records that decoding continues before the next key frame, with packets that were kept.
    mutating func catchUp() { hasPassed = false }
}

extension CodecParameters {
    /// The usual time from picture to picture, in ticks; that of 30 a second if no rate is known.
    fileprivate var usualTicks: Int64 {
        max(1, MediaTime(ticks: 1, timeBase: frameRate?.reciprocal ?? Rational(1, 30)).rescaled(to: timeBase).ticks)
    }

    /// Whether pictures may be shown in another order than they arrive: not in H.264's baseline profile (66), nor if
    /// each picture is decoded on its own.
    fileprivate var mayReorder: Bool {
        switch codec {
        case .h264: profile.map { $0 & 0xff != 66 } ?? true
        case .hevc: true
        default: false
        }
    }
}
