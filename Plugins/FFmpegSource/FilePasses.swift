import InletCore

/// The passes through a file that is repeated, on one timeline.
struct FilePasses {
    /// Passes to come; less than zero is for ever.
    private var left: Int
    /// From the earliest to the end of the latest picture of this pass, in ticks.
    private var start: Int64?
    private var end: Int64 = 0
    private var earliest: Int64?
    /// What is added to PTS, in ticks: the length of the passes so far.
    private(set) var offset: Int64 = 0

    /// - Parameter repetitions: more passes after the first; -1 is for ever.
    init(repetitions: Int) { left = repetitions }

    /// The first pass begins here, in ticks: what lies before is decoded only for what follows.
    mutating func begin(at ticks: Int64) { earliest = ticks }

    /// A packet of this pass: when it is shown and for how long, in ticks.
    mutating func note(_ ticks: Int64, length: Int64) {
        guard ticks >= earliest ?? ticks else { return }
        start = min(start ?? ticks, ticks)
        end = max(end, ticks.adding(saturating: length))
    }

    /// Goes on to the next pass; false where there is none, or where this one had no picture, so that the next would
    /// have none either.
    mutating func beginNext() -> Bool {
        guard left != 0, let start else { return false }
        left -= left > 0 ? 1 : 0
        offset = offset.adding(saturating: max(end.subtracting(saturating: start), 1))
        (self.start, earliest) = (nil, nil)
        end = 0
        return true
    }
}
