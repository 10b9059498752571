import InletCore

/// Decides which of several synchronization sources is the stream, for servers that mix in packets of other
/// sessions and have not announced the stream's source: the first packet may belong to another session.
struct SourceTrial: Sendable {
    /// The consecutive packets of the most recent source other than the followed one.
    var rival: CandidateStream
    private var rivalSSRC: UInt32?
    private var rivalPackets = 0
    private var ownPackets = 0
    private var start: MonotonicTime?
    /// Whether the followed source has proven to be the stream.
    private(set) var isDecided = false

    /// The shortest time for which two sources are compared before the one with more packets wins.
    private static let shortest = Duration.seconds(1)
    /// The length of the trial, after which the followed source has won for good if it has no fewer packets.
    private static let length = Duration.seconds(3)
    /// The time for which the followed source must be silent before another replaces it: during the trial, and after
    /// it.
    private static let silences = (during: Duration.milliseconds(500), after: Duration.seconds(2))

    init(maximumBytes: Int) { rival = CandidateStream(maximumBytes: maximumBytes) }

    /// Records a packet of the followed source.
    mutating func noteOwn(at time: MonotonicTime) {
        if start == nil { start = time }
        ownPackets = min(ownPackets &+ 1, .max / 2)
    }

    /// Records a packet of another source.
    ///
    /// - Parameter lastOwn: when the last packet of the followed source arrived; nil if none has.
    /// - Returns: whether the other source is followed from now on.
    mutating func noteRival(_ packet: ReceivedPacket, _ bytes: RawSpan, lastOwn: MonotonicTime?) -> Bool {
        let time = packet.arrival
        if packet.header.ssrc != rivalSSRC { (rivalSSRC, rivalPackets) = (packet.header.ssrc, 0) }
        rivalPackets = min(rivalPackets &+ 1, .max / 2)
        rival.note(packet, bytes)
        let passed = time - (start ?? time)
        let silence = time - (lastOwn ?? time)
        let isContinuous = rival.count >= 8 && rival.spansPictures
        if isContinuous, silence >= (isDecided ? Self.silences.after : Self.silences.during) { return true }
        guard !isDecided, passed >= Self.shortest else { return false }
        if isContinuous, rivalPackets > ownPackets { return true }
        isDecided = passed >= Self.length && silence < Self.silences.during
        return false
    }

    /// Starts again with the next packet.
    mutating func reset() {
        rival.clear()
        (rivalSSRC, start, isDecided) = (nil, nil, false)
        (ownPackets, rivalPackets) = (0, 0)
    }
}
