import InletCore

/// Finds live streams without random access points, which refresh their picture little by little, and decides which of
/// their pictures may be incomplete. Pure.
///
/// The decoder begins with any picture, and each further one has more parts that are right. How long a refresh takes is
/// not stated anywhere: ``longestRefresh`` is assumed. ``DamagePolicy/drop`` decodes without showing anything first,
/// but no longer than ``longestWait``: a viewer that never gets a picture does not benefit from whole ones.
struct UnannouncedRefresh {
    private let policy: DamagePolicy
    /// The time at which the newest packet arrived.
    private var arrival = MonotonicTime(nanoseconds: 0)
    /// The time at which the first packet since the last random access point arrived.
    private var waitsSince: MonotonicTime?
    /// The time at which decoding began, and the time from which pictures are shown.
    private var current: (start: MonotonicTime, shows: MonotonicTime)?
    /// Whether decoding has begun without a random access point, and none has come since.
    private var isKnown = false

    /// The time without random access points after which a stream is decoded, in case it has none.
    static let patience = Duration.seconds(2)
    /// The time without random access points after which pictures are shown.
    static let longestWait = Duration.seconds(8)
    /// The time that a refresh takes at most: the default of x264 and x265 is 250 pictures.
    static let longestRefresh = Duration.seconds(10)
    /// The number of packets without a random access point after which a stream is decoded that had some.
    static let mostRefusals = 600

    init(_ policy: DamagePolicy) { self.policy = policy }

    /// Whether decoding has begun without a random access point, or continues without one after a loss.
    var isActive: Bool { current != nil }

    /// Whether pictures are shown by now.
    var isShown: Bool { current.map { arrival >= $0.shows } ?? false }

    /// Whether the picture may not be refreshed yet.
    var isRunning: Bool { current.map { arrival - $0.start < Self.longestRefresh } ?? false }

    /// Records a packet, with the time of its arrival if the stream is live.
    mutating func noteArrival(_ time: MonotonicTime?) {
        guard let time else { return }
        arrival = time
        waitsSince = waitsSince ?? time
    }

    /// Records that the newest packet is a random access point.
    mutating func noteKey() { (current, waitsSince, isKnown) = (nil, nil, false) }

    /// Records a loss: the refresh begins again.
    mutating func noteLoss() { current = nil }

    /// Decides whether decoding begins with the newest packet, which is not a random access point.
    ///
    /// - Parameters:
    ///   - hasJoined: whether pictures of the stream have been shown before.
    ///   - refusals: the number of packets in a row that were not decoded, or gave no whole picture.
    mutating func begins(hasJoined: Bool, refusals: Int) -> Bool {
        guard current == nil else { return false }
        let first = waitsSince ?? arrival
        if hasJoined, isKnown {
            let wait: Duration =
                switch policy {
                case .drop: Self.longestRefresh
                case .automatic: PictureGate.automaticWait
                case .mark, .show: .zero
                }
            current = (arrival, arrival + wait)
            return true
        }
        let isOverdue = refusals >= Self.mostRefusals
        let patience = policy == .drop ? Self.patience : Self.longestWait
        guard isOverdue || !hasJoined && arrival - first >= patience else { return false }
        // All other policies have decoded from the beginning.
        current = (policy == .drop ? arrival : first, isOverdue ? arrival : max(arrival, first + Self.longestWait))
        isKnown = true
        return true
    }
}
