package import InletCore

/// Takes the RTP packets of one stream as they arrive and delivers them in the order of their sequence numbers, each
/// once, with the number of packets lost before it.
///
/// A packet that comes in order is delivered at once and without a copy. On an ordered transport nothing ever waits. On
/// others, packets after a missing one are copied and wait for it until ``deadline``. All memory is bounded by the
/// settings.
///
/// Packets that do not fit are kept until their cause is clear: a jump of the sequence numbers, a restarted sender, or
/// another sender (RFC 3550, section A.1, but without its loss of the first packets). They are delivered once enough of
/// them continue each other, and discarded if the stream itself continues.
package struct RTPReceiver: Sendable {
    private let settings: Settings
    private let payloadTypes: PayloadTypes
    /// Counts of received packets.
    package internal(set) var statistics = ReceptionStatistics()
    /// The synchronization source of the stream: that of its packets, or the expected one before the first.
    package internal(set) var ssrc: UInt32?
    /// The time at which packets that wait are delivered although an earlier one is missing: the caller calls
    /// ``release(at:_:)`` then. Nil if none waits.
    package internal(set) var deadline: MonotonicTime?

    /// The extended sequence number of the next packet to deliver; nil before the first.
    var next: Int?
    var quality: ReceptionQuality
    private var window = SequenceWindow()
    private var held: HeldPackets
    private var candidate: CandidateStream
    private var trial: SourceTrial
    private var spacing = UnitSpacing()
    /// The packets to request again; nil if the sender sends none again.
    var missing: MissingPackets?
    private var lastArrival: MonotonicTime?
    private var isRestartPending = false

    /// The largest distance from the next packet at which another is still taken at once.
    private var reach: Int { held.capacity }
    /// Greater steps forward are a new beginning rather than a loss (RFC 3550, section A.1: MAX_DROPOUT).
    private static let largestLoss = 3000
    /// The shortest silence of the stream after which two packets of another synchronization source replace it. They
    /// must be of two pictures: a stream of few pictures, or a suspended machine, is as silent before a picture of
    /// another session.
    private static let silence = Duration.milliseconds(500)
    /// The shortest silence if the packets of the other source are those of a single picture: a server that mixes in
    /// remains of another session sends them a picture at a time.
    private static let pictureSilence = Duration.milliseconds(100)
    /// The shortest time to wait for a missing packet, whatever the time from picture to picture.
    private static let leastHold = Duration.milliseconds(2)

    /// Makes a receiver. It allocates no memory for waiting packets until one waits.
    package init(_ settings: Settings) {
        self.settings = settings
        payloadTypes = PayloadTypes(settings.payloadTypes)
        ssrc = settings.expectedSSRC
        quality = ReceptionQuality(clockRate: settings.clockRate)
        held = HeldPackets(capacity: settings.capacity, maximumBytes: settings.maximumHeldBytes)
        candidate = CandidateStream(maximumBytes: settings.maximumHeldBytes)
        trial = SourceTrial(maximumBytes: settings.maximumHeldBytes)
        if !settings.isOrdered { missing = settings.retransmission.map { MissingPackets($0) } }
    }

    /// Starts again with the next packet, whatever its sequence number, as after a pause. Packets that wait are
    /// forgotten, and the next one is marked as a restart. Its source may be another, unless the server announced it
    /// truly.
    package mutating func reset() {
        isRestartPending = isRestartPending || next != nil
        if ssrc != settings.expectedSSRC { ssrc = nil }
        (next, deadline, lastArrival) = (nil, nil, nil)
        held.removeAll()
        missing?.removeAll()
        candidate.clear()
        trial.reset()
    }

    /// Takes a packet and delivers all packets that are now in order: any number of them, often only this one.
    ///
    /// - Parameters:
    ///   - packet: an RTP packet with its header. The caller filters RTCP out with ``RTCP/isControl(_:)``.
    ///   - arrival: the time, which does not decrease from call to call.
    ///   - deliver: called for each packet with its bytes, header included, which are valid during the call only.
    package mutating func receive(
        _ packet: RawSpan, at arrival: MonotonicTime, _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        release(at: arrival, deliver)
        guard let header = RTPHeader(packet) else {
            statistics.malformed &+= 1
            return
        }
        if let stream = settings.retransmission?.stream, header.payloadType == stream.payloadType {
            return restore(packet, header, of: stream, at: arrival, deliver)
        }
        guard payloadTypes.contains(header.payloadType) else {
            statistics.wrongPayloadType &+= 1
            return
        }
        let received = ReceivedPacket(header: header, arrival: arrival)
        if let ssrc, header.ssrc != ssrc {
            return takeForeign(received, packet, deliver)
        }
        guard let next else {
            ssrc = header.ssrc
            candidate.clear()
            begin(at: Int(header.sequence))
            return accept(received, packet, as: Int(header.sequence), deliver)
        }
        let distance = Int(Int16(bitPattern: header.sequence &- UInt16(truncatingIfNeeded: next)))
        let sequence = next &+ distance
        if let known = window.timestamp(of: sequence) {
            guard known != header.timestamp else {
                statistics.duplicates &+= 1
                return note(received, as: sequence, isFirstCopy: false)
            }
            statistics.strays &+= 1
            return doubt(received, packet, as: sequence, enough: 4, deliver)
        }
        switch distance {
        case 0..<reach:
            accept(received, packet, as: sequence, deliver)
        case -reach..<0:
            statistics.late &+= 1
            note(received, as: sequence, isFirstCopy: false)
            // An ordered transport has no late packets, so these are something else. On others a whole burst may be.
            doubt(received, packet, as: sequence, enough: settings.isOrdered ? 4 : 16, deliver)
        default:
            statistics.strays &+= 1
            let isOld = distance < 0 && distance > -Self.largestLoss
            doubt(received, packet, as: sequence, enough: isOld ? 8 : 2, deliver)
        }
    }

    /// Delivers packets that have waited until their deadline. Does nothing before ``deadline``.
    package mutating func release(at time: MonotonicTime, _ deliver: (ReceivedPacket, RawSpan) -> Void) {
        while let deadline, time >= deadline, let next {
            // One gap is given up; packets that wait for another gap may have a different deadline.
            guard let sequence = (next..<next + reach).first(where: { held.contains($0) }) else {
                held.removeAll()
                self.deadline = nil
                return
            }
            passOnHeld(sequence, deliver)
            passOnFollowing(deliver)
            updateDeadline()
        }
    }

    // MARK: The stream itself

    private mutating func begin(at sequence: Int) {
        next = sequence
        quality.reset()
        window.reset()
        missing?.removeAll()
        spacing = UnitSpacing()
    }

    private mutating func note(_ packet: ReceivedPacket, as sequence: Int, isFirstCopy: Bool = true) {
        quality.note(
            sequence, timestamp: packet.header.timestamp, arrival: packet.arrival, isFirstCopy: isFirstCopy)
        lastArrival = packet.arrival
        if settings.refusesForeignSSRC { trial.noteOwn(at: packet.arrival) }
    }

    /// Delivers or holds a packet that is not before the next one and not far after it.
    ///
    /// - Parameter isRepeated: whether the packet is an answer to a request. Reports and the time from picture to
    ///   picture are about the packets that come by themselves (RFC 4588, section 6.2).
    mutating func accept(
        _ packet: ReceivedPacket, _ bytes: RawSpan, as sequence: Int, isRepeated: Bool = false,
        _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        guard let next else { return }
        candidate.clear()
        if missing?.noteArrival(of: sequence, isRepeated: isRepeated, at: packet.arrival) == true {
            statistics.recovered &+= 1
        }
        if !isRepeated {
            let expected = quality.isNew ? next : max(next, quality.highest &+ 1)
            if sequence > expected { missing?.note(missing: expected..<sequence, at: packet.arrival) }
            if sequence < quality.highest, !quality.isNew { statistics.reordered &+= 1 }
            note(packet, as: sequence)
        }
        window.note(sequence, timestamp: packet.header.timestamp)
        statistics.received &+= 1
        if sequence == next {
            if settings.hasPictureTimes, !isRepeated {
                spacing.note(timestamp: packet.header.timestamp, arrival: packet.arrival)
            }
        } else if !settings.isOrdered, held.insert(sequence, packet, bytes) {
            updateDeadline()
            return release(at: packet.arrival, deliver)
        }
        // With an ordered transport, or without room, nothing waits.
        passOnHeld(before: sequence, deliver)
        passOn(packet, bytes, as: sequence, deliver)
        guard !held.isEmpty else { return }
        passOnFollowing(deliver)
        updateDeadline()
        // The time that packets wait has become shorter if pictures follow each other faster than they seemed to.
        release(at: packet.arrival, deliver)
    }

    private mutating func passOn(
        _ packet: ReceivedPacket, _ bytes: RawSpan, as sequence: Int, _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        var packet = packet
        packet.lostBefore = giveUp(before: sequence)
        packet.isRestart = takeRestart()
        next = sequence &+ 1
        deliver(packet, bytes)
    }

    private mutating func passOnHeld(_ sequence: Int, _ deliver: (ReceivedPacket, RawSpan) -> Void) {
        let lost = giveUp(before: sequence)
        next = sequence &+ 1
        held.deliver(sequence, lostBefore: lost, isRestart: takeRestart(), to: deliver)
    }

    private mutating func passOnHeld(before limit: Int, _ deliver: (ReceivedPacket, RawSpan) -> Void) {
        guard !held.isEmpty, let next else { return }
        for sequence in next..<max(next, min(limit, next + reach)) where held.contains(sequence) {
            passOnHeld(sequence, deliver)
        }
    }

    private mutating func passOnFollowing(_ deliver: (ReceivedPacket, RawSpan) -> Void) {
        while let next, held.contains(next) { passOnHeld(next, deliver) }
    }

    /// Counts the packets before the given one as lost.
    private mutating func giveUp(before sequence: Int) -> Int {
        let lost = next.map { max(0, sequence &- $0) } ?? 0
        statistics.lost &+= lost
        if lost > 0 { missing?.giveUp(before: sequence) }
        return lost
    }

    private mutating func takeRestart() -> Bool {
        defer { isRestartPending = false }
        return isRestartPending
    }

    private mutating func updateDeadline() {
        // Pictures after a loss are seldom shown, so a longer wait causes little visible delay.
        let interval = spacing.interval.map { max($0, Self.leastHold) } ?? settings.maximumHold
        var hold = min(interval, settings.maximumHold)
        if let missing, missing.isUseful { hold = max(hold, missing.hold) }
        deadline = held.earliestArrival.map { $0 + hold }
    }

    // MARK: Packets that do not continue the stream

    /// Keeps a packet that does not continue the stream, and follows it once enough in a row do the same.
    private mutating func doubt(
        _ packet: ReceivedPacket, _ bytes: RawSpan, as sequence: Int, enough: Int,
        _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        candidate.note(packet, bytes)
        guard candidate.count >= enough, let kept = candidate.kept else { return }
        // Waiting packets come first. They may reach beyond the packets in doubt, which then belong to another stream.
        passOnHeld(before: .max, deliver)
        guard let next else { return }
        let first = sequence - (kept.upperBound - kept.lowerBound)
        if (0..<Self.largestLoss).contains(first - next) {
            follow(kept, from: first, isRestart: false, deliver)
        } else {
            follow(kept, from: kept.lowerBound, isRestart: true, deliver)
        }
    }

    private mutating func takeForeign(
        _ packet: ReceivedPacket, _ bytes: RawSpan, _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        statistics.foreignSource &+= 1
        if settings.refusesForeignSSRC {
            // An SSRC that the server has announced takes precedence.
            guard settings.expectedSSRC == nil, trial.noteRival(packet, bytes, lastOwn: lastArrival) else { return }
            candidate = trial.rival
            trial.reset()
            guard let kept = candidate.kept else { return }
            ssrc = packet.header.ssrc
            return follow(kept, from: kept.lowerBound, isRestart: next != nil, deliver)
        }
        candidate.note(packet, bytes)
        let silence = (lastArrival ?? candidate.firstArrival).map { packet.arrival - $0 } ?? .zero
        let isSpread = lastArrival == nil || candidate.spansPictures || silence >= Self.pictureSilence
        guard
            candidate.count >= 8 && isSpread
                || candidate.count >= 2 && candidate.spansPictures && silence >= Self.silence,
            let kept = candidate.kept
        else { return }
        ssrc = packet.header.ssrc
        follow(kept, from: kept.lowerBound, isRestart: next != nil, deliver)
    }

    /// Delivers waiting packets, and then the packets in doubt, which are the stream from now on.
    private mutating func follow(
        _ kept: ClosedRange<Int>, from first: Int, isRestart: Bool, _ deliver: (ReceivedPacket, RawSpan) -> Void
    ) {
        passOnHeld(before: .max, deliver)
        deadline = nil
        if isRestart {
            isRestartPending = true
            statistics.restarts &+= 1
        }
        if isRestart || next == nil { begin(at: first) }
        for number in kept {
            let sequence = first + (number - kept.lowerBound)
            guard let packet = candidate.held.packet(number) else { continue }
            note(packet, as: sequence)
            window.note(sequence, timestamp: packet.header.timestamp)
            statistics.received &+= 1
            let lost = giveUp(before: sequence)
            next = sequence &+ 1
            candidate.deliver(number, lostBefore: lost, isRestart: takeRestart(), to: deliver)
        }
        candidate.clear()
    }
}
