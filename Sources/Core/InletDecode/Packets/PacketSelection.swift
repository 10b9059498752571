import InletCore

/// Decides which packets of a stream are decoded when the sinks want fewer frames than there are.
///
/// If key frames arrive at least as often as frames are wanted, only they are decoded: each on its own, and what lies
/// between is not even passed to the decoder. Such a stretch begins and ends at a key frame, so no picture is ever
/// decoded without those that it refers to.
struct PacketSelection {
    /// The treatment of a packet.
    enum Fate: Equatable {
        case decode
        /// Decode this key frame without anything before or after it.
        case decodeAlone
        /// The stretch of key frames begins: this packet is skipped, and the decoder outputs the pictures that it
        /// holds.
        case passAndDrain
        case pass
        /// The stretch is over because no key frame has arrived in time: decode the last one and the packets skipped
        /// since.
        case catchUp
        /// The stretch is over: decode from this key frame on, whose leading pictures refer to skipped pictures.
        case decodeAnew
    }

    private enum Mode { case all, beginning, keyFrames }

    private let timeBase: Rational
    private var mode = Mode.all
    private var lastKey: Int64?
    /// The last few distances between key frames, in ticks, newest last.
    private var distances: [Int64] = []
    private var lastTaken: Int64?

    /// The number of distances kept: one long one among them, at a cut or in a slow scene, keeps the whole stream
    /// decoded for that long.
    private static let remembered = 4

    /// - Parameter known: distances between key frames that are known in advance, in ticks.
    init(timeBase: Rational, known: [Int64] = []) {
        self.timeBase = timeBase
        // The longest of an index, as it covers more than is remembered of a stream.
        distances = known.max().map { $0 > 0 ? [$0] : [] } ?? []
    }

    /// Forgets the position, after a jump in the stream.
    mutating func reset() {
        mode = .all
        lastKey = nil
        lastTaken = nil
    }

    /// Whether the stretch continues at this time although a key frame is overdue: key frames have become rarer.
    private func isOverdue(_ time: Int64?, _ wanted: Rational?) -> Bool {
        guard let time, let lastKey, let interval = ticks(of: wanted) else { return false }
        return time.subtracting(saturating: lastKey) > interval.adding(saturating: interval / 10)
    }

    /// Whether only key frames are decoded, or are about to be.
    var restsOnKeys: Bool { mode != .all }

    /// Whether packets are skipped up to the next key frame.
    var skipsToKey: Bool { mode == .keyFrames }

    /// Records that only a key frame was decoded, and that packets are skipped until the next key frame.
    ///
    /// - Parameter time: the key frame's time in ticks; nil if it had no time.
    mutating func skipToKey(after time: Int64?) {
        mode = .keyFrames
        (lastKey, lastTaken) = (time, time)
    }

    /// - Parameters:
    ///   - time: the packet's PTS, or its DTS if it has no PTS, in ticks.
    ///   - wanted: the frames a second that sinks take; nil for all.
    ///   - keyFramesOnly: whether key frames have to do, however rarely they come. The default is false.
    ///   - canCatchUp: whether the packets since the last key frame are known. The default is true.
    mutating func fate(
        isKey: Bool, time: Int64?, wanted: Rational?, keyFramesOnly: Bool = false, canCatchUp: Bool = true
    ) -> Fate {
        guard isKey else {
            switch mode {
            case .all: return .decode
            case .beginning:
                mode = .keyFrames
                return .passAndDrain
            case .keyFrames where canCatchUp && !keyFramesOnly && isOverdue(time, wanted):
                mode = .all
                return .catchUp
            case .keyFrames: return .pass
            }
        }
        if let time, let lastKey, time > lastKey {
            distances.append(time.subtracting(saturating: lastKey))
            if distances.count > Self.remembered { distances.removeFirst() }
        }
        lastKey = time ?? lastKey
        let suffices = keyFramesOnly || keyFramesSuffice(wanted)
        switch mode {
        case .beginning where suffices && isEarly(time, wanted):
            // A stream of only key frames has no other packet to begin the stretch with.
            mode = .keyFrames
            return .passAndDrain
        case .all, .beginning:
            mode = suffices ? .beginning : .all
            lastTaken = time
            return .decode
        case .keyFrames where !suffices:
            mode = .all
            return .decodeAnew
        case .keyFrames:
            if isEarly(time, wanted) { return .pass }
            lastTaken = time
            return .decodeAlone
        }
    }

    /// Returns whether a key frame is skipped because the next one is nearer to the time at which a frame is wanted.
    /// After a step back in time none is.
    private func isEarly(_ time: Int64?, _ wanted: Rational?) -> Bool {
        guard let time, let lastTaken, let interval = ticks(of: wanted) else { return false }
        let due = interval.subtracting(saturating: (distances.last ?? 0) / 2)
        let passed = time.subtracting(saturating: lastTaken)
        return passed > 0 && passed < due
    }

    /// Whether key frames by themselves arrive as often as frames are wanted. A tolerance of a tenth, as 29.97 is not
    /// 30.
    private func keyFramesSuffice(_ wanted: Rational?) -> Bool {
        guard let interval = ticks(of: wanted), let longest = distances.max() else { return false }
        return longest <= interval.adding(saturating: interval / 10)
    }

    private func ticks(of rate: Rational?) -> Int64? {
        rate?.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).rescaled(to: timeBase).ticks }
    }
}
