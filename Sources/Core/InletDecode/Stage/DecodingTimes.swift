/// Computes decoding times for packets that arrive in decoding order and state when they are shown, as in RTP.
///
/// A decoder that holds `depth` pictures back needs each packet by the time the picture `depth` before it, in display
/// order, is due. So the decoding time of a packet is the least of the waiting presentation times, once more than
/// `depth` are waiting.
struct DecodingTimes {
    /// The number of pictures decoded before one that is shown earlier.
    private(set) var depth: Int
    private let interval: Int64
    /// The waiting presentation times, ascending.
    private var waiting: [Int64] = []
    private var newest: Int64?
    private var last: Int64?

    /// The greatest depth of H.264 and HEVC.
    private static let greatestDepth = 16
    /// The greatest step from one packet to the next, in usual intervals, either way, that counts as reordering.
    private static let greatestStep: Int64 = 64

    /// - Parameters:
    ///   - depth: the depth, as far as it is known in advance.
    ///   - interval: the usual time from picture to picture, in ticks.
    init(depth: Int, interval: Int64) {
        self.depth = min(max(0, depth), Self.greatestDepth)
        self.interval = max(1, interval)
    }

    /// Examines how the first packets are reordered, if the depth is unknown.
    mutating func learn(from times: some Sequence<Int64>) {
        var seen: [Int64] = []
        for time in times {
            depth = min(max(depth, seen.count { $0 > time }), Self.greatestDepth)
            seen.append(time)
        }
    }

    /// Returns the decoding time of the next packet, later than all before it and no later than its picture is shown;
    /// in ticks.
    ///
    /// - Returns: nil if the packet does not continue from earlier ones: the sender restarted its time, or reorders
    ///   pictures by more than was known. The next packet then starts over, and should be a key frame.
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

    /// Records that the next packet does not continue from earlier ones.
    mutating func reset() {
        waiting = []
        (newest, last) = (nil, nil)
    }
}
