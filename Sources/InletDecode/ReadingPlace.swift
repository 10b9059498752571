import InletCore

/// Decides on which thread a live source is read: on the one that decodes, or apart from it on another.
///
/// A packet that goes from thread to thread costs a wake-up, so the thread that decodes reads as well, as long as it
/// is back well before the next packet. While it is not, packets would wait where nobody sees how old they are.
///
/// It has no clock: times are passed in.
struct ReadingPlace {
    /// Whether another thread reads.
    private(set) var isApart = false
    /// How long the decoding thread lately was away between two packets, and how long such a round took.
    private var usualAbsence = Duration.zero
    private var usualRound = Duration.zero
    private var lastRequest: MonotonicTime?
    private var lastPacket: MonotonicTime?
    /// Since when the decoding thread could have read; nil if it could not.
    private var calmSince: MonotonicTime?

    /// For how long the decoding thread must have been fast enough before it reads again.
    private let calm: Duration

    /// The longest absence. A socket holds what arrives meanwhile, and the times of arrival are wrong by no more.
    private static let longestAbsence = Duration.milliseconds(20)

    /// - Parameter calm: for how long the decoding thread must have been fast enough before it reads again. The default
    ///   is 2 s.
    init(calm: Duration = .seconds(2)) { self.calm = calm }

    /// Notes that the decoding thread wants a packet.
    mutating func noteRequest(at now: MonotonicTime) {
        defer { lastRequest = now }
        guard let lastRequest, let lastPacket else { return }
        let absence = now - lastPacket
        let round = now - lastRequest
        usualAbsence += (absence - usualAbsence) / 4
        usualRound = usualRound == .zero ? round : usualRound + (round - usualRound) / 4
        if absence > Self.longestAbsence || usualAbsence * 2 > usualRound {
            isApart = true
            calmSince = nil
        } else if isApart {
            noteCalm(absence < Self.longestAbsence / 2 && usualAbsence * 4 < usualRound, at: now)
        }
    }

    /// Notes that the decoding thread got a packet.
    ///
    /// - Parameter waiting: how many more are queued.
    mutating func notePacket(waiting: Int, at now: MonotonicTime) {
        lastPacket = now
        if waiting > 0 { calmSince = nil }
    }

    private mutating func noteCalm(_ isCalm: Bool, at now: MonotonicTime) {
        guard isCalm else { return calmSince = nil }
        guard let since = calmSince else { return calmSince = now }
        guard now - since >= calm else { return }
        isApart = false
        calmSince = nil
    }
}
