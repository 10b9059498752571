import InletCore

/// Gives every frame its place on one monotonic timeline: derived from the PTS, strictly increasing.
///
/// Confined to the capture thread; knows no clock of its own, so tests feed it any times they like.
struct FrameClock {
    private var pacing: SourcePacing
    private var anchor: Anchor?
    private var last: MonotonicTime?

    /// A PTS and the instant it stands for.
    private struct Anchor {
        var pts: MediaTime
        var time: MonotonicTime
    }

    /// A step of the PTS larger than this, in either direction, starts the timeline anew: no camera and no file has gaps that long without
    /// the sender having restarted.
    static let largestStep = Duration.seconds(10)

    init(pacing: SourcePacing) { self.pacing = pacing }

    /// Another source takes over, whose PTS have an origin of their own. The timeline goes on.
    mutating func reconnect(pacing: SourcePacing) {
        self.pacing = pacing
        anchor = nil
    }

    /// The instant of a frame.
    ///
    /// - Parameters:
    ///   - pts: the source's own time; nil makes the frame's arrival count.
    ///   - arrival: when the frame was there; earlier than or equal to now.
    mutating func stamp(pts: MediaTime?, arrival: MonotonicTime, startsAnew: Bool) -> MonotonicTime {
        var time = arrival
        if let pts {
            if let anchor, !startsAnew {
                time =
                    anchor.time
                    + .nanoseconds(pts.nanoseconds.subtractingReportingOverflow(anchor.pts.nanoseconds).partialValue)
                if let last, (time - last) > Self.largestStep || (last - time) > Self.largestStep {
                    time = reanchor(pts: pts, arrival: arrival)
                } else if pacing != .unpaced, time > arrival {
                    time = reanchor(pts: pts, arrival: arrival)
                }
            } else {
                time = reanchor(pts: pts, arrival: arrival)
            }
        }
        if let last, time <= last { time = last + .nanoseconds(1) }
        last = time
        return time
    }

    /// Starts the timeline anew at a frame: now for a live source, straight after the last frame for one that runs ahead of the clock.
    private mutating func reanchor(pts: MediaTime, arrival: MonotonicTime) -> MonotonicTime {
        var time = arrival
        if let last, time <= last { time = last + .nanoseconds(1) }
        anchor = Anchor(pts: pts, time: time)
        return time
    }
}
