import InletCore

/// Decides on which thread a live source is read: on the decoding thread or on a separate one.
///
/// Passing a packet between threads costs a wake-up. So the decoding thread also reads, as long as it returns well
/// before the next packet. Otherwise packets would wait unread, and their age would be unknown.
///
/// A single long absence is detected only at its end. Packets that arrive meanwhile are held in the system's buffers,
/// up to their size, and count as having arrived when they are read.
///
/// It has no clock: times are passed in.
struct ReadingPlace {
    /// Whether another thread reads.
    private(set) var isApart = false
    /// The decoding thread's recent absence between two packets, and the duration of such a round.
    private var usualAbsence = Duration.zero
    private var usualRound = Duration.zero
    private var lastRequest: MonotonicTime?
    private var lastPacket: MonotonicTime?
    /// The time since which the decoding thread could have read; nil if it could not.
    private var calmSince: MonotonicTime?

    /// The time at which the decoding thread began to read again; nil before the first time.
    private var returned: MonotonicTime?
    /// For how long the decoding thread must have been fast enough before it reads again: at first, and now.
    private let shortestCalm: Duration
    private var calm: Duration

    /// The longest absence after which the decoding thread continues to read.
    private static let longestAbsence = Duration.milliseconds(20)
    /// The longest that the calm grows to by absences that come again and again, as a multiple of the shortest.
    private static let longestCalm = 32
    /// For how long after its return the decoding thread must not be slow again, as a multiple of the shortest calm.
    private static let probation = 30

    /// - Parameter calm: for how long the decoding thread must have been fast enough before it reads again. The default
    ///   is 2 s.
    init(calm: Duration = .seconds(2)) { (shortestCalm, self.calm) = (calm, calm) }

    /// Records that the decoding thread requests a packet.
    ///
    /// - Parameter mayBlock: whether it may be away for any time, as when a source waits for its sink.
    mutating func noteRequest(at now: MonotonicTime, mayBlock: Bool = false) {
        defer { lastRequest = now }
        if mayBlock { leave(at: now) }
        guard let lastRequest, let lastPacket else { return }
        let absence = now - lastPacket
        let round = now - lastRequest
        usualAbsence += (absence - usualAbsence) / 4
        usualRound = usualRound == .zero ? round : usualRound + (round - usualRound) / 4
        if absence > Self.longestAbsence || usualAbsence * 2 > usualRound {
            leave(at: now)
        } else if isApart, !mayBlock {
            noteCalm(absence < Self.longestAbsence / 2 && usualAbsence * 4 < usualRound, at: now)
        }
    }

    /// Records that the decoding thread got a packet.
    ///
    /// - Parameter waiting: how many more are queued.
    mutating func notePacket(waiting: Int, at now: MonotonicTime) {
        lastPacket = now
        if waiting > 0 { calmSince = nil }
    }

    /// Records a pause, which does not count as an absence.
    mutating func noteResume() { (lastRequest, lastPacket, calmSince) = (nil, nil, nil) }

    private mutating func leave(at now: MonotonicTime) {
        calmSince = nil
        guard !isApart else { return }
        isApart = true
        let isRelapse = returned.map { now - $0 < shortestCalm * Self.probation } ?? false
        calm = isRelapse ? min(calm * 2, shortestCalm * Self.longestCalm) : shortestCalm
    }

    private mutating func noteCalm(_ isCalm: Bool, at now: MonotonicTime) {
        guard isCalm else { return calmSince = nil }
        guard let since = calmSince else { return calmSince = now }
        guard now - since >= calm else { return }
        isApart = false
        calmSince = nil
        returned = now
    }
}
