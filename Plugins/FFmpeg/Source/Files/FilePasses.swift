import InletCore

/// The passes through a repeated file, on one timeline.
struct FilePasses {
    /// The number of remaining passes; a negative number repeats endlessly.
    private var left: Int
    /// The span from the earliest picture of this pass to the end of the latest one, in ticks.
    private var start: Int64?
    private var end: Int64 = 0
    private var earliest: Int64?
    /// The time of the file's first picture, in ticks. Later passes begin there; the first pass may begin later.
    private var origin: Int64?
    /// The offset to add to PTS, in ticks: the duration of the previous passes.
    private(set) var offset: Int64 = 0

    /// - Parameter repetitions: the number of passes after the first; -1 repeats endlessly.
    init(repetitions: Int) { left = repetitions }

    /// Sets the beginning of the first pass, in ticks. Earlier pictures are only decoded for the sake of later ones.
    ///
    /// - Parameter origin: the time of the file's first picture, if it is known.
    mutating func begin(at ticks: Int64, origin: Int64?) { (earliest, self.origin) = (ticks, origin) }

    /// Records a packet of this pass: its display time and duration, in ticks.
    mutating func note(_ ticks: Int64, length: Int64) {
        origin = min(origin ?? ticks, ticks)
        guard ticks >= earliest ?? ticks else { return }
        start = min(start ?? ticks, ticks)
        end = max(end, ticks.adding(saturating: length))
    }

    /// Advances to the next pass.
    /// - Returns: false after the last pass, and after a pass without a picture, because the next pass would not have
    ///   one either.
    mutating func beginNext() -> Bool {
        guard left != 0, let start else { return false }
        left -= left > 0 ? 1 : 0
        offset = offset.adding(saturating: max(end.subtracting(saturating: origin ?? start), 1))
        (self.start, earliest, origin) = (nil, nil, nil)
        end = 0
        return true
    }
}
