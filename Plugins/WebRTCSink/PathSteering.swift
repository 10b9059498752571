#if WebRTC
    import InletCore
    import InletRTC

    /// How many bits a second a peer is sent: reads what it reports, and keeps the controller that decides.
    struct PathSteering {
        private var controller: any RateController
        /// Whether reports on each packet count, once there are any.
        private let readsArrivals: Bool
        private var hasArrivals = false
        private var delay = PathDelay()
        /// The last of all receiver reports, and the last about each SSRC.
        private(set) var feedback: GStreamerViewer.Feedback?
        private var feedbackBySource: [UInt32: GStreamerViewer.Feedback] = [:]
        private static let mostSources = 4
        /// Of all kinds: pictures, and what was sent again.
        var packetsLost: Int { feedbackBySource.values.reduce(0) { $0 + max(0, $1.lost) } }

        /// - Parameter isTransportWide: the peer reports on each packet.
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

        /// Bits a second, now.
        var bitrate: Int { controller.bitrate }
        /// What the path bears.
        var sustainedBitrate: Int { controller.sustainedBitrate }
        /// Nothing is to be sent before.
        var pausedUntil: MonotonicTime? { controller.pausedUntil }

        /// Makes the decisions that are due.
        ///
        /// - Returns: whether they are other ones.
        mutating func decide(at now: MonotonicTime) -> Bool {
            let before = (bitrate, sustainedBitrate, pausedUntil)
            _ = controller.decide(at: now)
            return before != (bitrate, sustainedBitrate, pausedUntil)
        }

        /// Takes in a receiver's report.
        ///
        /// - Returns: false where it is the same once more: nothing came from the peer since.
        mutating func add(_ new: GStreamerViewer.Feedback, at now: MonotonicTime) -> Bool {
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

        /// Takes in a report on each packet.
        mutating func add(_ arrivals: GStreamerViewer.Arrivals, at now: MonotonicTime) {
            guard readsArrivals else { return }
            hasArrivals = true
            controller.add(
                PathReport(
                    time: now, expected: arrivals.expected, lost: arrivals.lost,
                    receivedBitrate: arrivals.bitrate,
                    queueing: arrivals.shortest.map { delay.queueing($0, at: now) }, newestSent: arrivals.newest))
        }
    }
#endif
