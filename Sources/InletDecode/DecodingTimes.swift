/// Makes decoding times for packets that come in decoding order and tell when they are shown, as in RTP.
///
/// A decoder that holds `depth` pictures back has to have each packet when the picture `depth` before it, in the order
/// in which they are shown, is due. So the decoding time of a packet is the least time that is left when so many wait.
struct DecodingTimes {
    /// How many pictures are shown before one that was decoded earlier.
    private(set) var depth: Int
    private let interval: Int64
    /// Ascending.
    private var waiting: [Int64] = []
    private var newest: Int64?
    private var last: Int64?

    /// H.264 and HEVC hold back no more.
    private static let greatestDepth = 16
    /// So many usual intervals from one packet to the next, either way, are no reordering.
    private static let greatestStep: Int64 = 64

    /// - Parameters:
    ///   - depth: as far as it is known beforehand.
    ///   - interval: the usual time from picture to picture, in ticks.
    init(depth: Int, interval: Int64) {
        self.depth = min(max(0, depth), Self.greatestDepth)
        self.interval = max(1, interval)
    }

    /// Looks at how the first packets are reordered, where that is not known.
    mutating func learn(from times: some Sequence<Int64>) {
        var seen: [Int64] = []
        for time in times {
            depth = min(max(depth, seen.count { $0 > time }), Self.greatestDepth)
            seen.append(time)
        }
    }

    /// The decoding time of the next packet, later than all before it and no later than the picture is shown; in ticks.
    ///
    /// - Returns: nil where the packet does not go on from those before: the sender began its time anew, or reorders
    ///   pictures by more than was known. What comes next begins anew, and is to be a key frame.
    mutating func next(pts: Int64) -> Int64? {
        let most = interval.multipliedReportingOverflow(by: Self.greatestStep).partialValue
        if let newest, pts.subtractingReportingOverflow(newest).partialValue > most { waiting = [] }
        newest = max(newest ?? pts, pts)
        waiting.insert(pts, at: waiting.firstIndex { $0 > pts } ?? waiting.endIndex)
        let missing = Int64(depth + 1 - waiting.count)
        var time = missing > 0 ? waiting[0] &- missing &* interval : waiting.removeFirst()
        if missing > 0, let last { time = max(time, last &+ 1) }
        guard time <= pts, last.map({ time > $0 }) ?? true else {
            let isReordered = last.map { $0.subtractingReportingOverflow(pts).partialValue <= most } ?? true
            if isReordered { depth = min(depth + 1, Self.greatestDepth) }
            reset()
            return nil
        }
        last = time
        return time
    }

    /// What comes next does not go on from what came before.
    mutating func reset() {
        waiting = []
        (newest, last) = (nil, nil)
    }
}
