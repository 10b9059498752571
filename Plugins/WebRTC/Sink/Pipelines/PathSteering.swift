import InletCore
import InletRTC
import WebRTCEngine

/// Determines the bit rate for a peer: reads its reports, and owns the controller that decides.
struct PathSteering {
    private var controller: any RateController
    /// Whether reports about each packet take precedence once there are any.
    private let readsArrivals: Bool
    private var hasArrivals = false
    private var delay = PathDelay()
    /// The last receiver report, of any SSRC. The last report of each SSRC is kept separately.
    private(set) var feedback: GStreamerPeer.Feedback?
    private var feedbackBySource: [UInt32: GStreamerPeer.Feedback] = [:]
    private static let mostSources = 4
    /// The number of lost packets of all kinds: pictures and retransmissions.
    var packetsLost: Int { feedbackBySource.values.reduce(0) { $0 + max(0, $1.lost) } }

    /// - Parameter isTransportWide: whether the peer reports about each packet.
    init(_ control: RateControl, _ rates: LossStepper.Settings, isTransportWide: Bool) throws(InletError) {
        readsArrivals = control == .delay || control == .automatic && isTransportWide
        guard readsArrivals else {
            controller = try LossStepper(rates)
            return
        }
        var settings = DelayController.Settings()
        (settings.minimum, settings.maximum, settings.start) = (rates.minimum, rates.maximum, rates.start)
        controller = try DelayController(settings)
    }

    /// The current bit rate, in bits per second.
    var bitrate: Int { controller.bitrate }
    /// The capacity of the path, in bits per second.
    var sustainedBitrate: Int { controller.sustainedBitrate }
    /// The time before which nothing may be sent.
    var pausedUntil: MonotonicTime? { controller.pausedUntil }

    /// Makes the decisions that are due.
    ///
    /// - Returns: whether the rate or the pause has changed.
    mutating func decide(at now: MonotonicTime) -> Bool {
        let before = (bitrate, sustainedBitrate, pausedUntil)
        _ = controller.decide(at: now)
        return before != (bitrate, sustainedBitrate, pausedUntil)
    }

    /// Adds a receiver report.
    ///
    /// Adds a receiver report.
    mutating func add(_ new: GStreamerPeer.Feedback, at now: MonotonicTime) -> Bool {
        guard new != feedback else { return false }
        feedback = new
        let old = feedbackBySource[new.source]
        guard old != nil || feedbackBySource.count < Self.mostSources else { return true }
        feedbackBySource[new.source] = new
        guard let old, new.highestSequence >= old.highestSequence, !(readsArrivals && hasArrivals) else {
            return true
        }
        controller.add(
            PathReport(
                time: now, expected: Int(new.highestSequence - old.highestSequence),
                lost: max(0, new.lost - old.lost)))
        return true
    }

    /// Adds a report about each packet.
    mutating func add(_ arrivals: GStreamerPeer.Arrivals, at now: MonotonicTime) {
        guard readsArrivals else { return }
        hasArrivals = true
        controller.add(
            PathReport(
                time: now, expected: arrivals.expected, lost: arrivals.lost,
                receivedBitrate: arrivals.bitrate,
                queueing: arrivals.shortest.map { delay.queueing($0, at: now) }, newestSent: arrivals.newest))
    }
}
