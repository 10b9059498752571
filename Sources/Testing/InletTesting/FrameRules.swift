import InletCore

/// The rules that successive frames of one source keep.
struct FrameRules {
    let format: SourceFormat
    private var previousSequence: UInt64?
    private var previousTime: MediaTime?

    init(format: SourceFormat) { self.format = format }

    /// Checks one frame against the format and the frame before it.
    mutating func check(_ frame: SourceFrame) -> [Violation] {
        var violations: [Violation] = []
        if let defect = NativePicture.defect(of: frame) {
            violations.append(Violation("planes", "frame \(frame.sequence): \(defect)"))
        }
        if let previousSequence {
            if frame.sequence <= previousSequence {
                violations.append(
                    Violation("sequence", "the sequence number \(frame.sequence) follows \(previousSequence)"))
            }
        } else if frame.sequence != 0 {
            violations.append(Violation("sequence", "the first frame has the sequence number \(frame.sequence), not 0"))
        }
        previousSequence = frame.sequence
        if let pts = frame.pts {
            if pts.timeBase != format.timeBase {
                violations.append(
                    Violation(
                        "timeBase",
                        "frame \(frame.sequence) counts in \(pts.timeBase), but the format states \(format.timeBase)"))
            }
            if let previousTime, pts < previousTime, !frame.flags.contains(.discontinuity) {
                violations.append(
                    Violation(
                        "pts",
                        "the PTS \(pts) of frame \(frame.sequence) follows \(previousTime) without a discontinuity flag"
                    ))
            }
            previousTime = pts
        }
        if let duration = frame.duration, duration.ticks < 0 {
            violations.append(Violation("duration", "frame \(frame.sequence) has a duration of \(duration)"))
        }
        return violations
    }
}
