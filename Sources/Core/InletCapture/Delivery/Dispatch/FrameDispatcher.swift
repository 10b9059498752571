import InletCore
import Synchronization

/// Puts frames on the timeline and offers them to the receivers, one at a time: the source's frames, and placeholders
/// between them.
///
/// It outlives the source's sessions, so timestamps and sequence numbers continue across reconnects. Stamping is done
/// under a lock, which is not contended while frames flow; offering, which may wait for a lossless sink, is done
/// outside it. The current session, which has one thread, offers one item at a time, and no placeholder is offered
/// meanwhile. A thread that was given up is ignored; a frame that it is offering at that moment may be older than what
/// others have put in since, and the mailboxes then refuse it.
final class FrameDispatcher: Sendable {
    typealias SessionID = CapturerStateMachine.SessionID

    /// The dispatcher's limits.
    struct Limits: Sendable {
        var frames: UInt64?
        var duration: Duration?
    }

    let state: Mutex<State>
    /// Whether a session's beginning is held, so that no packet takes the lock for that later on.
    let holdsPackets = Atomic(false)
    private let limits: Limits
    let clock: any CaptureClock
    private let counters: SessionCounters
    let keepsLastFrame: Bool
    let currentReceivers: @Sendable () -> [any SinkReceiver]
    private let receiversVersion = Atomic(0)
    private let disabled = Atomic(false)
    /// Placeholders offered so far.
    let placeholders = Atomic(UInt64(0))
    /// The gate at which a producer waits for room under a lossless policy.
    let room = ProducerGate()
    /// The session that offers an item now, or ``nobody``. Set under the lock.
    let offering = Atomic(nobody)
    static let nobody: SessionID = -1

    /// The attached receivers, by what they take; one that takes both is in both.
    struct Receivers {
        var frames: [any FrameReceiver] = []
        var packets: [any PacketReceiver] = []

        init() {}

        init(_ all: [any SinkReceiver]) {
            frames = all.compactMap { $0 as? any FrameReceiver }
            packets = all.compactMap { $0 as? any PacketReceiver }
        }
    }

    struct State {
        /// Sessions are numbered from 1.
        var session: SessionID = 0
        /// The newest session whose thread was given up.
        var givenUp: SessionID = 0
        /// Nil until a source has been open.
        var format: SourceFormat?
        var frameClock = FrameClock(pacing: .live, timestampBits: nil)
        /// The clock of the packets, by their decoding times: packets precede their pictures.
        var packetClock = FrameClock(pacing: .live, timestampBits: nil)
        /// The packets with which the session begins, until their times are known; nil for those of other sessions.
        var burst: PacketBurst?
        /// The last packet's time in ticks, which are coarser than the clock.
        var lastPacketTicks: Int64?
        var receivers = Receivers()
        var reduction = PictureReduction()
        var fields = FieldHold()
        var seenVersion = -1
        /// The number of packets since the last picture of this session; nil before the first picture.
        var packetsSincePicture: Int?
        /// The number of the source's frames so far, over all sessions.
        var count: UInt64 = 0
        /// The offset that makes the session's sequence numbers continue from earlier sessions.
        var sequenceOffset: UInt64 = 0
        var nextSequence: UInt64 = 0
        var nextOwnSequence: UInt64?
        var firstTimestamp: MonotonicTime?
        var lastTimestamp: MonotonicTime?
        /// The time at which the source's newest frame arrived.
        var lastArrival: MonotonicTime?
        /// The newest placeholder since the last frame. The timeline restarts after it: a late frame would otherwise
        /// lie before it.
        var lastPlaceholder: MonotonicTime?
        /// The newest frame, for placeholders that hold it.
        var lastFrame: SourceFrame?
        /// The look of the source's pictures, as of the newest frame.
        var lastLook: PictureLook?
    }

    /// - Parameters:
    ///   - keepsLastFrame: whether the newest frame's memory is kept, for ``holdLastFrame``.
    ///   - receivers: returns those attached now; called again after ``receiversChanged()``.
    init(
        clock: any CaptureClock, counters: SessionCounters, limits: Limits, keepsLastFrame: Bool,
        receivers: @escaping @Sendable () -> [any SinkReceiver]
    ) {
        self.clock = clock
        self.counters = counters
        self.limits = limits
        self.keepsLastFrame = keepsLastFrame
        currentReceivers = receivers
        state = Mutex(State())
    }

    /// Records that the receivers have changed; they are read again before the next frame.
    func receiversChanged() { receiversVersion.add(1, ordering: .releasing) }

    /// Whether the run ends after a number of frames or a time.
    var hasLimits: Bool { limits.frames != nil || limits.duration != nil }

    /// Starts or stops withholding frames from the receivers. Frames withheld are counted as ``DropReason/disabled``.
    func setDisabled(_ isDisabled: Bool) { disabled.store(isDisabled, ordering: .relaxed) }

    // MARK: Frames of the source

    /// Records that a session's source is open; from now on only its frames are accepted.
    ///
    /// - Returns: false if a later session has taken over, or the run is over: a session that was given up has opened
    ///   its source after all.
    func begin(_ session: SessionID, format: SourceFormat) -> Bool {
        state.withLock { state in
            guard session > state.session, session > state.givenUp else { return false }
            state.session = session
            state.format = format
            state.nextOwnSequence = nil
            state.packetsSincePicture = nil
            state.sequenceOffset = state.nextSequence
            state.frameClock.reconnect(pacing: format.pacing, timestampBits: format.timestampBits)
            state.packetClock.reconnect(pacing: format.pacing, timestampBits: format.timestampBits)
            state.seenVersion = -1
            hold(format.mayBeginWithPast ? PacketBurst() : nil, &state)
            return true
        }
    }

    /// Records that a session's thread is lost: its items are refused from now on, and placeholders do not wait for an
    /// item that it is offering.
    func giveUp(_ session: SessionID) { state.withLock { $0.givenUp = max($0.givenUp, session) } }

    /// Accepts no more frames, and releases those that are held.
    func finish() {
        let kept = state.withLock { state in
            state.session = .max
            defer { (state.lastFrame, state.receivers) = (nil, Receivers()) }
            return (state.lastFrame, state.receivers, state.fields.end())
        }
        // Left over from a session that was given up.
        if let held = kept.2 { offer(held) { true } }
        withExtendedLifetime(kept) {}
    }

    /// Takes a picture or packet of the source. Blocks only under a lossless policy, until there is room or
    /// `isCancelled`.
    ///
    /// - Parameter startsAnew: whether the time since the previous item is unknown.
    func deliver(
        _ item: SourceItem, from session: SessionID, startsAnew: Bool = false, isCancelled: () -> Bool
    ) -> Result {
        if holdsPackets.load(ordering: .relaxed), case .packet(let packet) = item,
            let packets = hold(packet, from: session)
        {
            return deliver(packets, from: session, startsAnew: startsAnew, isCancelled)
        }
        return deliverNow(item, from: session, startsAnew: startsAnew, isCancelled)
    }

    /// Delivers an item as ``deliver(_:from:startsAnew:isCancelled:)`` does, but holds nothing.
    func deliverNow(
        _ item: SourceItem, from session: SessionID, startsAnew: Bool, _ isCancelled: () -> Bool
    ) -> Result {
        let taken = state.withLock { take(item, from: session, startsAnew: startsAnew, &$0) }
        withExtendedLifetime(taken.previous) { carryOut(taken.offer, after: taken.held, of: session, isCancelled) }
        return taken.result
    }

    /// Takes a picture of the source from another thread, for which the session's own waits. Never blocks.
    ///
    /// - Returns: false if the session's thread is to deliver it: a receiver may make it wait, a placeholder is being
    ///   offered, or another session has taken over.
    func handOver(_ frame: SourceFrame, from session: SessionID) -> Bool {
        var taken = Taken()
        // The holder of the lock may release pictures, and the owners of the pictures may call this.
        _ = state.withLockIfAvailable { state in
            // Receivers of a source that is not live are lossless by default.
            guard state.session == session, state.format?.pacing == .live else { return }
            lookAtReceivers(&state)
            guard !state.receivers.frames.contains(where: \.isLossless) else { return }
            taken = take(.frame(frame), from: session, startsAnew: false, &state)
        }
        if case .notCurrent = taken.result { return false }
        withExtendedLifetime(taken.previous) { carryOut(taken.offer, after: taken.held, of: session, { true }) }
        return true
    }

    /// The result of an item handled under the lock.
    private struct Taken {
        var result = Result.notCurrent
        var offer = Offer.nothing
        /// The picture to offer before that.
        var held: FieldHold.Offering?
        /// The picture that was kept until now, which is to be released where the lock is not held.
        var previous: SourceFrame?
    }

    private func take(
        _ item: SourceItem, from session: SessionID, startsAnew: Bool, _ state: inout State
    ) -> Taken {
        guard state.session == session, session > state.givenUp else { return Taken() }
        if limits.frames == 0 { return Taken(result: .limit(.frameLimit)) }
        let previous = state.lastFrame
        var held: FieldHold.Offering?
        let (result, offer) =
            switch item {
            case .frame(let frame): take(frame, startsAnew: startsAnew, &held, &state)
            case .packet(let packet): take(packet, startsAnew: startsAnew, &state)
            }
        if case .nothing = offer, held == nil {} else { offering.store(session, ordering: .relaxed) }
        return Taken(result: result, offer: offer, held: held, previous: previous)
    }

    private func carryOut(
        _ offer: Offer, after held: FieldHold.Offering?, of session: SessionID, _ isCancelled: () -> Bool
    ) {
        if let held { self.offer(held, isCancelled: isCancelled) }
        switch offer {
        case .nothing: if held == nil { return }
        case .frame(let offering): self.offer(offering, isCancelled: isCancelled)
        case .packet(let packet, let parameters, let receivers):
            for receiver in receivers where receiver.takesPackets {
                receiver.offer(packet, of: parameters, isCancelled: isCancelled)
            }
        }
        endOffering(of: session)
    }

    /// The item to offer, and its receivers, once the lock is released.
    private enum Offer {
        case nothing
        case frame(FieldHold.Offering)
        case packet(EncodedPacket, CodecParameters, [any PacketReceiver])
    }

    private func take(
        _ frame: SourceFrame, startsAnew: Bool, _ held: inout FieldHold.Offering?, _ state: inout State
    ) -> (Result, Offer) {
        let arrival = clock.now
        if let last = state.lastPlaceholder { state.frameClock.skip(to: last) }
        let startsAnew = startsAnew || frame.flags.contains(.discontinuity) || state.lastPlaceholder != nil
        let stamp = state.frameClock.stamp(
            pts: frame.pts, arrival: min(frame.captureTime ?? arrival, arrival), startsAnew: startsAnew,
            wallClock: frame.wallClock)
        let timestamp = stamp.time
        if stamp.basis == .arrival { counters.stampedByArrival.wrappingAdd(1, ordering: .relaxed) }
        state.packetsSincePicture = 0
        var frame = frame
        frame.wallClock = stamp.wallClock
        let first = state.firstTimestamp ?? timestamp
        state.firstTimestamp = first
        if let limit = limits.duration, timestamp - first >= limit { return (.limit(.durationLimit), .nothing) }
        countSequence(frame.sequence, &state)
        count(arrival: arrival, timestamp: timestamp, captureTime: frame.captureTime, &state)
        var offer = Offer.nothing
        if disabled.load(ordering: .relaxed) {
            held = state.fields.end()
            dropForAll(.disabled, &state)
        } else if let last = state.lastPlaceholder, timestamp <= last {
            // Older than what the sinks have already seen.
            dropForAll(.outOfOrder, &state)
        } else {
            state.lastPlaceholder = nil
            (held, offer) = number(
                frame, arrival: arrival, timestamp: timestamp, startsAnew: startsAnew, &state)
        }
        if keepsLastFrame { state.lastFrame = frame }
        state.lastLook = PictureLook(frame)
        return (resultOfCount(state), offer)
    }

    private func resultOfCount(_ state: borrowing State) -> Result {
        if let limit = limits.frames, state.count >= limit { .limit(.frameLimit) } else { .goOn }
    }

    /// Within how many packets a stream that is decoded yields a picture.
    private static let mostPacketsPerPicture = 16

    /// Takes a packet. It counts as a frame if no receiver takes pictures, and none come all the same.
    private func take(_ packet: SourcePacket, startsAnew: Bool, _ state: inout State) -> (Result, Offer) {
        let arrival = clock.now
        lookAtReceivers(&state)
        let decoding = state.packetClock.stamp(
            pts: packet.dts, arrival: min(packet.captureTime ?? packet.receiveTime ?? arrival, arrival),
            startsAnew: startsAnew || packet.flags.contains(.discontinuity), wallClock: nil
        ).time
        var timestamp = decoding
        if let pts = packet.pts, let dts = packet.dts {
            timestamp =
                decoding + .nanoseconds(pts.nanoseconds.subtractingReportingOverflow(dts.nanoseconds).partialValue)
        }
        let mayIdle = mayIdle(state.format, state.reduction)
        if mayIdle { for receiver in state.receivers.frames { receiver.passPicture(at: arrival) } }
        state.packetsSincePicture = state.packetsSincePicture.map { min($0, Self.mostPacketsPerPicture) + 1 }
        let picturesCome = state.packetsSincePicture.map { $0 <= Self.mostPacketsPerPicture } ?? false
        // Whether an idle receiver gets no pictures indeed.
        let isAtRest = mayIdle && !picturesCome
        if !state.receivers.frames.contains(where: { $0.takesPictures && !(isAtRest && $0.isIdle) }) {
            let first = state.firstTimestamp ?? timestamp
            state.firstTimestamp = first
            if let limit = limits.duration, timestamp - first >= limit { return (.limit(.durationLimit), .nothing) }
            state.nextSequence &+= 1
            // Packets are not numbered: the next picture's number shows no gap.
            state.nextOwnSequence = nil
            count(arrival: arrival, timestamp: decoding, captureTime: packet.captureTime, &state)
        }
        let receivers = state.receivers.packets
        guard !disabled.load(ordering: .relaxed) else {
            for receiver in receivers where receiver.takesPackets { receiver.losePacket(.disabled) }
            return (resultOfCount(state), .nothing)
        }
        let dts = max(decoding.ticks, state.lastPacketTicks.map { $0 + 1 } ?? .min)
        state.lastPacketTicks = dts
        let encoded = EncodedPacket(
            data: packet.data,
            pts: MediaTime(ticks: max(timestamp.ticks, dts), timeBase: MonotonicTime.packetTimeBase),
            dts: MediaTime(ticks: dts, timeBase: MonotonicTime.packetTimeBase),
            duration: packet.duration?.rescaled(to: MonotonicTime.packetTimeBase), isKey: packet.isKey,
            captureTime: timestamp, wallClock: packet.wallClock)
        var parameters = packet.parameters
        parameters.timeBase = MonotonicTime.packetTimeBase
        return (resultOfCount(state), receivers.isEmpty ? .nothing : .packet(encoded, parameters, receivers))
    }

    private func count(
        arrival: MonotonicTime, timestamp: MonotonicTime, captureTime: MonotonicTime?, _ state: inout State
    ) {
        state.count += 1
        state.lastTimestamp = timestamp
        state.lastArrival = arrival
        counters.frameArrived(at: arrival, timestamp: timestamp, captureTime: captureTime)
    }

    /// Counts the losses that a gap in the source's own numbers reveals.
    private func countSequence(_ sequence: UInt64, _ state: inout State) {
        if let expected = state.nextOwnSequence, sequence > expected {
            counters.lostInSequence.wrappingAdd(sequence - expected, ordering: .relaxed)
        }
        state.nextOwnSequence = sequence &+ 1
    }

    /// Gives a frame its number within the run, and determines its receivers.
    private func number(
        _ frame: SourceFrame, arrival: MonotonicTime, timestamp: MonotonicTime, startsAnew: Bool,
        _ state: inout State
    ) -> (held: FieldHold.Offering?, Offer) {
        var frame = frame
        frame.sequence = max(frame.sequence &+ state.sequenceOffset, state.nextSequence)
        state.nextSequence = frame.sequence &+ 1
        lookAtReceivers(&state)
        guard !state.receivers.frames.isEmpty else { return (state.fields.end(), .nothing) }
        var stages = StageTimes()
        stages.captured = frame.captureTime
        stages.received = frame.receiveTime
        stages.decoded = arrival
        stages.queued = arrival
        let captured = CapturedFrame(frame, timestamp: timestamp, stages: stages)
        let (held, now) = state.fields.take(
            frame, as: captured, for: state.receivers.frames, startsAnew: startsAnew)
        return (held, .frame(now))
    }

    private func dropForAll(_ reason: DropReason, _ state: inout State) {
        lookAtReceivers(&state)
        for receiver in state.receivers.frames { receiver.counters.countDrop(reason) }
    }

    func lookAtReceivers(_ state: inout State) {
        let version = receiversVersion.load(ordering: .acquiring)
        guard version != state.seenVersion else { return }
        let receivers = currentReceivers()
        state.receivers = Receivers(receivers)
        state.seenVersion = version
        for receiver in receivers { receiver.begin(state.format, room: room) }
    }
}

extension MonotonicTime {
    /// The time base of packets on the capture timeline: MPEG's, in which most usual frame intervals are whole
    /// numbers of ticks.
    fileprivate static let packetTimeBase = Rational(1, 90_000)

    /// The time in ticks of ``packetTimeBase``, to the nearest.
    fileprivate var ticks: Int64 { Int64(clamping: (Int128(nanoseconds) * 9 + 50_000) / 100_000) }
}
