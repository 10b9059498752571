import InletCore

/// The passes through a file that is repeated, on one timeline.
struct FilePasses {
    /// Passes to come; less than zero is for ever.
    private var left: Int
    /// From the earliest to the end of the latest frame of this pass, in ticks.
    private var start: Int64?
    private var end: Int64 = 0
    /// What is added to PTS, in ticks: the length of the passes so far.
    private(set) var offset: Int64 = 0

    /// - Parameter repetitions: more passes after the first; -1 is for ever.
    init(repetitions: Int) { left = repetitions }

    /// A frame of this pass, in ticks.
    mutating func note(_ ticks: Int64, length: Int64) {
        start = min(start ?? ticks, ticks)
        end = max(end, ticks.adding(saturating: length))
    }

    /// Goes on to the next pass; false where there is none, or where this one had no frame, so that the next would have none either.
    mutating func beginNext() -> Bool {
        guard left != 0, let start else { return false }
        left -= left > 0 ? 1 : 0
        offset = offset.adding(saturating: max(end.subtracting(saturating: start), 1))
        self.start = nil
        end = 0
        return true
    }
}
