package import InletCore

/// Turns the RTP and RTCP packets of one stream into access units with their times, and returns the RTCP to send.
///
/// Confined to one thread.
package final class MediaStream {
    /// An access unit and its place on the timeline.
    package struct Unit {
        package var unit: AccessUnit
        /// The presentation time in ticks of the stream's clock.
        package var ticks: Int64
        /// Whether times before and after are unrelated.
        package var isDiscontinuity: Bool
        /// The sender's time of day for the unit in nanoseconds since 1970, if it is known.
        package var wallClock: Int64?
    }

    private var receiver: RTPReceiver
    private let depacketizer: Depacketizer
    private var timeline: RTPTimeline
    private var wallClock: WallClock
    private var schedule: RTCPSchedule
    private var writer: RTCPWriter
    private var senderReport: (report: SenderReport, arrival: MonotonicTime)?
    /// The last report before the first packet identifies the sender.
    private var earlyReport: (report: SenderReport, arrival: MonotonicTime, host: Int64)?
    private var replayed = ReplayedUnits()
    /// This machine's time of day in nanoseconds since 1970.
    private let hostTime: () -> Int64
    private let requests: RTCPWriter.KeyFrameRequests
    private let clockRate: Int
    private var answers = KeyFrameAnswers()
    /// The number of units dropped for missing references when a key frame was last requested.
    private var useless = 0
    /// Whether decoding waits for a key frame that can be requested.
    private var isKeyNeeded = false
    /// Whether decoding waits for a key frame, whether or not one can be requested by RTCP.
    package private(set) var awaitsKeyFrame = false
    /// The next unit, if it was asked for and not taken.
    private var waiting: AccessUnit?
    /// Whether the sender has ended the stream (RTCP BYE).
    package private(set) var hasEnded = false
    /// Whether the server has paused the stream: it sends no key frame then. ``breakOff()`` requests one again.
    package var isPaused = false
    /// The time at which the last packet of the stream arrived.
    package private(set) var lastArrival: MonotonicTime?

    /// - Parameters:
    ///   - start: when the stream began to play.
    ///   - requests: how key frames can be requested; empty if they cannot.
    ///   - hostTime: returns this machine's time of day in nanoseconds since 1970.
    package init(
        _ format: RTPPayloadFormat, _ reception: RTPReceiver.Settings, _ depacketizing: DepacketizerSettings,
        requests: RTCPWriter.KeyFrameRequests, at start: MonotonicTime, hostTime: @escaping () -> Int64
    ) {
        self.hostTime = hostTime
        clockRate = reception.clockRate
        receiver = RTPReceiver(reception)
        depacketizer = Depacketizer(format, settings: depacketizing)
        timeline = RTPTimeline(clockRate: reception.clockRate)
        wallClock = WallClock(clockRate: reception.clockRate)
        schedule = RTCPSchedule(start: start)
        var random = SystemRandomNumberGenerator()
        // RFC 7022, section 4.2: 96 random bits, which reveal nothing about the user.
        let name = String(random.next(), radix: 36) + String(random.next() as UInt32, radix: 36)
        writer = RTCPWriter(ssrc: random.next(), name: Array(name.utf8))
        self.requests = requests
        needKeyFrame()
    }

    /// The numbers of received and lost packets.
    package var reception: ReceptionStatistics { receiver.statistics }
    /// The figures of the depacketizer.
    package var payloads: DepacketizerStatistics { depacketizer.statistics }
    /// The counts of packets received and lost, and of key frames requested.
    package var figures: ReceptionFigures {
        var figures = ReceptionFigures()
        let counts = reception
        figures.packets = UInt64(clamping: counts.received)
        figures.packetsLost = UInt64(clamping: counts.lost)
        figures.packetsDuplicated = UInt64(clamping: counts.duplicates)
        figures.packetsReordered = UInt64(clamping: counts.reordered)
        figures.packetsRecovered = UInt64(clamping: counts.recovered)
        figures.packetsLate = UInt64(clamping: counts.late)
        figures.jitter = .nanoseconds(Int64(receiver.jitter) &* 1_000_000_000 / Int64(max(1, clockRate)))
        figures.keyFrameRequests = UInt64(clamping: answers.requests)
        figures.keyFrameResponses = UInt64(clamping: answers.responses)
        figures.keyFrameResponseTime = answers.responseTime
        figures.lossRemedy = lossRemedy
        return figures
    }
    /// The remedy that ``figures`` state; set by the source, which knows why it stays with UDP.
    package var lossRemedy: ReceptionFigures.LossRemedy?
    /// The latest parameter sets in Annex B; empty if none has been received.
    package var parameterSets: [UInt8] { depacketizer.parameterSets }
    /// The state of the search for video in a transport stream; nil for other formats.
    package var transportStream: TransportStreamState? { depacketizer.transportStream }
    /// Whether the RTP timestamps, and so the sender reports, are unrelated to the times of the pictures.
    private var hasTransmissionTimes: Bool { depacketizer.format == .transportStream }
    /// The sender, once it is known.
    package var ssrc: UInt32? { receiver.ssrc }

    /// Takes a packet that came on either of the stream's channels or ports.
    ///
    /// - Parameter hasMore: whether more bytes of the stream have arrived already.
    package func take(_ packet: RawSpan, at time: MonotonicTime, hasMore: Bool) {
        if RTCP.isControl(packet) { return takeControl(packet, at: time) }
        receiver.receive(packet, at: time) { received, bytes in deliver(received, bytes, hasMore: hasMore) }
    }

    /// The time at which silence completes the waiting units; never if none waits.
    package var silenceDeadline: MonotonicTime {
        min(receiver.deadline ?? .distantFuture, depacketizer.quietDeadline ?? .distantFuture)
    }

    /// Records that nothing more has arrived by this time: what waited for more is finished when it is due.
    package func idle(at time: MonotonicTime) {
        if let deadline = receiver.deadline, time >= deadline {
            receiver.release(at: time) { received, bytes in deliver(received, bytes, hasMore: false) }
        }
        if let deadline = depacketizer.quietDeadline, time >= deadline { depacketizer.tick(at: time) }
    }

    /// Returns when ``idle(at:)`` is due if nothing arrives, or ``control(at:into:)`` if RTCP may be sent already.
    package func deadline(sendsControl: Bool) -> MonotonicTime {
        guard sendsControl else { return silenceDeadline }
        return min(silenceDeadline, schedule.deadline, receiver.requestDeadline ?? .distantFuture)
    }

    /// Records the end of the stream: the last unit is complete.
    package func end() { depacketizer.end() }

    /// Records that the stream was paused: later packets do not continue earlier ones.
    package func breakOff() {
        receiver.reset()
        depacketizer.restart()
        dropUnits()
        timeline.breakOff()
        wallClock.reset()
        replayed.reset()
        earlyReport = nil
        needKeyFrame()
    }

    /// Requests key frames until one comes, because a receiver needs one. Does nothing if they are being requested.
    package func requestKeyFrame() { if !awaitsKeyFrame { needKeyFrame() } }

    /// Requests key frames, at most one a second, until one comes.
    private func needKeyFrame() {
        awaitsKeyFrame = true
        isKeyNeeded = !requests.isEmpty
        if isKeyNeeded { schedule.needKeyFrame() }
    }

    /// Whether an access unit is complete.
    package var hasUnit: Bool {
        if waiting == nil { waiting = depacketizer.takeUnit() }
        return waiting != nil
    }

    /// Drops the complete access units.
    package func dropUnits() {
        waiting = nil
        while depacketizer.takeUnit() != nil {}
    }

    /// Returns the next access unit; nil if none is complete.
    package func takeUnit() -> Unit? {
        guard hasUnit, var unit = waiting else { return nil }
        waiting = nil
        let replay = replayed.facts(of: unit.timestamp)
        if let replay {
            if replay.isCleanPoint, !unit.isKey, unit.recoveryFrames == nil { unit.recoveryFrames = 0 }
            // The unit's references may not have been recorded.
            if replay.isAfterGap { unit.isAfterLoss = true }
        }
        if unit.isKey || unit.isRecoveryPoint {
            isKeyNeeded = false
            awaitsKeyFrame = false
            schedule.noteKeyFrame()
            answers.noteKeyFrame(at: unit.lastArrival)
        }
        if unit.isDamaged || unit.isAfterLoss && !unit.isKey { needKeyFrame() }
        if unit.startsTimeline { timeline.breakOff() }
        let place = timeline.place(unit.timestamp, arrival: unit.lastArrival)
        if place.isDiscontinuity { wallClock.beginTimeline(at: unit.timestamp) }
        if let replay { wallClock.note(replay.time, at: unit.timestamp, host: hostTime()) }
        return Unit(
            unit: unit, ticks: place.ticks, isDiscontinuity: place.isDiscontinuity,
            wallClock: place.isRestamped && replay == nil || hasTransmissionTimes
                ? nil : wallClock.time(of: unit.timestamp))
    }

    /// Records that a key frame was requested by other means than RTCP.
    package func noteKeyFrameRequest(at time: MonotonicTime) { answers.noteRequest(at: time) }

    /// Appends the RTCP that is due, if any.
    package func control(at time: MonotonicTime, into packet: inout [UInt8]) {
        let missing = receiver.takeRequests(at: time)
        guard time >= schedule.deadline || !missing.isEmpty else { return }
        let due = schedule.take(at: time)
        let isRequested = due.isKeyFrameRequestDue && !isPaused
        guard due.isReportDue || isRequested || !missing.isEmpty else { return }
        if isRequested, receiver.ssrc != nil { answers.noteRequest(at: time) }
        writer.append(
            report: receiver.receptionReport(at: time, sender: senderReport),
            requests: isRequested ? requests : [], missing: missing, to: receiver.ssrc, into: &packet)
        // A request may get lost, and without a sender no request can be sent yet.
        if isRequested, isKeyNeeded { schedule.needKeyFrame() }
    }

    /// Returns whether a key frame is to be requested now, for a transport that writes RTCP itself.
    package func takeKeyFrameRequest(at time: MonotonicTime) -> Bool {
        guard time >= schedule.deadline else { return false }
        guard schedule.take(at: time).isKeyFrameRequestDue, !isPaused else { return false }
        if receiver.ssrc != nil { answers.noteRequest(at: time) }
        // A request may get lost, and without a sender no request can be sent yet.
        if isKeyNeeded { schedule.needKeyFrame() }
        return true
    }

    /// Records the time of day at which a server says that it began to play.
    ///
    /// - Parameters:
    ///   - start: nanoseconds since 1970.
    ///   - timestamp: the RTP timestamp of that time.
    package func noteStart(_ start: Int64, at timestamp: UInt32) {
        wallClock.notePlay(start, at: timestamp, host: hostTime())
    }

    /// Returns an empty RTP packet and an empty report, which open the way back through a firewall.
    package func openers(payloadType: UInt8) -> (rtp: [UInt8], rtcp: [UInt8]) {
        var (rtp, rtcp): ([UInt8], [UInt8]) = ([], [])
        writer.appendEmptyPacket(payloadType: payloadType, into: &rtp)
        writer.appendEmptyReport(into: &rtcp)
        return (rtp, rtcp)
    }

    private func deliver(_ received: ReceivedPacket, _ bytes: RawSpan, hasMore: Bool) {
        if received.isRestart {
            depacketizer.restart()
            timeline.breakOff()
            wallClock.reset()
            replayed.reset()
        }
        if let early = earlyReport {
            earlyReport = nil
            take(early.report, of: received.header.ssrc, at: early.arrival, host: early.host)
        }
        if let replay = ONVIFReplayExtension(received.header, of: bytes) {
            replayed.note(replay, at: received.header.timestamp)
        }
        let videoPackets = depacketizer.statistics.videoTransportPackets
        depacketizer.add(
            received.header, bytes, lostBefore: received.lostBefore, at: received.arrival, hasMore: hasMore)
        let dropped = depacketizer.statistics.withoutReferences
        if dropped != useless {
            useless = dropped
            needKeyFrame()
        }
        // In a transport stream other packets come whether there are pictures or not.
        if !hasTransmissionTimes || lastArrival == nil
            || depacketizer.statistics.videoTransportPackets != videoPackets
        {
            lastArrival = max(lastArrival ?? received.arrival, received.arrival)
        }
    }

    private func takeControl(_ packet: RawSpan, at time: MonotonicTime) {
        RTCP.read(packet) { item in
            switch item {
            case .senderReport(let report):
                guard let ssrc = receiver.ssrc else {
                    earlyReport = (report, time, hostTime())
                    return
                }
                take(report, of: ssrc, at: time, host: hostTime())
            case .goodbye(let ssrc): if ssrc == receiver.ssrc { hasEnded = true }
            case .other: break
            }
        }
    }

    private func take(_ report: SenderReport, of ssrc: UInt32, at time: MonotonicTime, host: Int64) {
        guard report.ssrc == ssrc else { return }
        wallClock.note(report, of: ssrc, host: host)
        senderReport = (report, time)
    }
}
