import InletCore
import Synchronization

/// Pictures that replace the source's.
extension FrameDispatcher {
    /// The picture from which placeholders are made.
    struct LastPicture {
        /// The newest frame, if it is kept.
        var frame: SourceFrame?
        /// The look of the source's pictures, if a source has been open.
        var look: PictureLook?
    }

    /// The source's newest picture; nil while a frame is being stamped.
    var lastPicture: LastPicture? {
        state.withLockIfAvailable {
            LastPicture(frame: $0.lastFrame, look: $0.lastLook ?? $0.format.map { PictureLook($0) })
        }
    }

    /// Offers a picture that is not the source's. Never blocks: while a frame is stamped or offered, or a lossless sink
    /// has no room, the picture is skipped.
    ///
    /// Until a source has been open, the picture goes only to sinks that request a size: others would begin with a size
    /// that no frame has.
    ///
    /// - Parameter start: the time at which the outage's placeholders began; nil for placeholders outside an outage. A
    ///   frame that has arrived since ends the outage, even if the supervisor does not know yet.
    func offerPlaceholder(_ picture: SourceFrame, outageFrom start: MonotonicTime?) {
        _ = state.withLockIfAvailable { state in
            let current = state.session > state.givenUp ? state.session : nil
            guard offering.load(ordering: .acquiring) != current else { return }
            if let start, let arrival = state.lastArrival, arrival >= start { return }
            let now = clock.now
            guard now > state.lastTimestamp ?? MonotonicTime(nanoseconds: .min) else { return }
            lookAtReceivers(&state)
            var receivers = state.receivers.frames
            if state.format == nil {
                receivers.removeAll { $0.wants.size == nil }
                if receivers.isEmpty { return }
            }
            if let held = state.fields.end() {
                for receiver in held.receivers { receiver.enqueue(held.frame, isCancelled: { true }) }
            }
            var frame = picture
            frame.pts = nil
            frame.duration = nil
            frame.captureTime = nil
            frame.receiveTime = nil
            frame.wallClock = nil
            frame.flags = [.placeholder]
            frame.sequence = state.nextSequence
            state.nextSequence &+= 1
            // The source's own numbers continue from here.
            state.sequenceOffset &+= 1
            state.lastTimestamp = now
            state.lastPlaceholder = now
            let captured = CapturedFrame(frame, timestamp: now, stages: StageTimes())
            if !PictureFilters.changing(frame).isEmpty { captured.keep(frame, previous: nil) }
            for receiver in receivers { receiver.enqueue(captured, isCancelled: { true }) }
            placeholders.add(1, ordering: .relaxed)
        }
    }
}
