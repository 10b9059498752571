import InletCore
import Synchronization

/// Items that producers offer.
extension SinkDelivery {
    // MARK: Packets

    var takesPackets: Bool { state.withLock { $0.packetTap != nil } }

    var takesPictures: Bool {
        let (tap, isPaused) = state.withLock { ($0.packetTap, $0.reduction.isPaused) }
        return !isPaused && tap?.wantsPictures ?? true
    }

    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {
        state.withLock { $0.tap }?.offer(packet, of: parameters)
    }

    func losePacket(_ reason: DropReason) { state.withLock { $0.tap }?.lose() }

    // MARK: Pictures

    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        // Work on the pixels would delay the source, and sinks that want other pictures would wait for each other.
        guard isImmediate, frame.isNative(for: wants) else { return enqueue(frame, isCancelled: isCancelled) }
        guard isTaken(frame) else { return }
        switch mailbox.claim(for: frame.timestamp) {
        case .claimed: consume(frame)
        case .refused(let reason): context.countDrop(of: frame, reason, by: self)
        case .notNow: put(frame, isCancelled)
        }
    }

    func enqueue(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        if isTaken(frame) { put(frame, isCancelled) }
    }

    /// Whether the sink takes a frame. Some are already on their way when it wants no more, or are for another sink.
    private func isTaken(_ frame: CapturedFrame) -> Bool {
        guard !frame.isPlaceholder, !takesPictures else { return true }
        if state.withLock({ $0.reduction.isPaused }) { counters.countDrop(.disabled) }
        return false
    }

    private func put(_ frame: CapturedFrame, _ isCancelled: () -> Bool) {
        if mailbox.put(
            frame, at: frame.timestamp, isCancelled: isCancelled,
            // A placeholder never waits; a frame of the source waits until it is cancelled.
            refusedAs: frame.isPlaceholder ? .queueFull : .cancelled,
            onAdmission: {
                if state.withLock({ $0.hasSink && $0.takesFrames }) { context.convertAhead(frame, for: self) }
            },
            onDrop: { context.countDrop(of: $0, $1, by: self) })
        {
            wake()
        }
    }

    /// Delivers a frame on the producer's thread, which has taken the consumer's place.
    private func consume(_ frame: CapturedFrame) {
        guard worker.hasStarted else {
            worker.first = frame
            return wake()
        }
        deliver(frame)
        // The sink's thread finishes the sink, or ends because the sink has been finished.
        if drain(finishes: false) { wake() }
    }
}
