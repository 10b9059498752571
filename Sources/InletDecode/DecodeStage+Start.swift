import InletCore

/// The beginning of a file at a time in its middle.
extension DecodeStage {
    /// Whether every picture ended before the time at which to start.
    var startsAfterEnd: Bool { pictures == 0 && lastBeforeStart != nil }

    /// Notes a whole picture that is shown before the time at which to start.
    func noteBeforeStart(_ frame: SourceFrame) {
        if start != nil, pictures == 0, !frame.flags.contains(.corrupt) { lastBeforeStart = frame }
    }

    /// Takes the stream's last picture if it began before the time at which to start and is still shown then.
    func takeShownAtStart() -> Output {
        guard pictures == 0, let start, let frame = lastBeforeStart, let pts = frame.pts,
            let length = frame.duration ?? frameRate?.reciprocal.map({ MediaTime(ticks: 1, timeBase: $0) }),
            pts.nanoseconds.adding(saturating: length.nanoseconds) > start.nanoseconds
        else { return .ended }
        return .item(.frame(complete(frame)))
    }
}
