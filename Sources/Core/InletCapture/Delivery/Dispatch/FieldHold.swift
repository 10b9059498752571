import InletCore

/// Holds an interlaced picture for the receivers that have it deinterlaced until the next one has arrived, whose lines
/// are used for it. Holds at most one.
struct FieldHold {
    /// A picture and its receivers.
    struct Offering {
        var frame: CapturedFrame
        var receivers: [any FrameReceiver]
    }

    private var held: Offering?
    /// The newest picture, if it is interlaced and a receiver has it deinterlaced.
    private var newest: (frame: SourceFrame, time: MonotonicTime)?

    /// The longest time between two pictures that belong together. If they are rarer, by the stream or because few are
    /// decoded, a picture does not wait for the next.
    private static let longestGap = Duration.milliseconds(100)

    /// Takes the next picture.
    ///
    /// - Parameters:
    ///   - frame: the picture as the source made it.
    ///   - captured: the same picture.
    ///   - receivers: the receivers of the picture.
    ///   - startsAnew: whether it does not belong to the picture before it.
    /// - Returns: the picture that was held, and what to offer now of this one.
    mutating func take(
        _ frame: SourceFrame, as captured: CapturedFrame, for receivers: [any FrameReceiver], startsAnew: Bool
    ) -> (held: Offering?, now: Offering) {
        let before = held
        held = nil
        let gap = newest.map { captured.timestamp - $0.time }
        let previous = newest.flatMap { newest in
            let isNeighbour =
                !startsAnew && gap.map { $0 > .zero && $0 <= Self.longestGap } ?? false
                && newest.frame.size == frame.size && newest.frame.pixelFormat == frame.pixelFormat
            return isNeighbour ? newest.frame : nil
        }
        if previous != nil { before?.frame.setNext(frame) }
        newest = nil
        let filters = PictureFilters.changing(frame)
        let filtering = filters.isEmpty ? [] : receivers.filter { !$0.wants.filters.isDisjoint(with: filters) }
        guard !filtering.isEmpty else { return (before, Offering(frame: captured, receivers: receivers)) }
        captured.keep(frame, previous: previous)
        var now = Offering(frame: captured, receivers: receivers)
        guard filters.contains(.deinterlacing) else { return (before, now) }
        newest = (frame, captured.timestamp)
        let waiting = filtering.filter { receiver in
            let wants = receiver.wants
            guard wants.filters.contains(.deinterlacing) else { return false }
            // After the first picture the next one may come late if few are wanted.
            return previous != nil
                || gap == nil && wants.maximumFrameRate.map { $0 >= Rational(10) } ?? true
        }
        if !waiting.isEmpty {
            held = Offering(frame: captured, receivers: waiting)
            now.receivers.removeAll { receiver in waiting.contains { $0 === receiver } }
        }
        return (before, now)
    }

    /// Returns the picture that is held: none follows that belongs to it.
    mutating func end() -> Offering? {
        newest = nil
        return held.take()
    }
}
