package import InletCore

/// Follows the capacity of a path, by the received rate and the waiting time of packets on the way: the controller for
/// peers that report each packet's arrival.
///
/// - If all packets wait, there is a standing queue, because more is sent than the path carries. The rate then drops
///   below the received one, the further the longer they wait, so that the queue drains. If the queue is long, nothing
///   is sent until the data in flight has arrived, because any picture would be late. A wait that does not go away
///   although less is sent is considered the path's own.
/// - Loss above a tenth takes half of that fraction off the rate; between a fiftieth and a tenth the rate stays,
///   because such loss may be the path's own.
/// - Otherwise the rate rises: by a fraction per second that grows while there is no obstacle, and slowly near the rate
///   at which the path was full before. If less arrives than the rate allows, because pictures are easy to encode, it
///   rises slowly, because the path beyond the received rate is unknown.
///
/// Based on draft-ietf-rmcat-gcc-02, with a measured one-way delay instead of its gradient.
package struct DelayController: RateController {
    /// The settings of the controller.
    package struct Settings: Sendable, Hashable {
        /// The lowest bit rate, in bits a second. The default is 100,000.
        package var minimum = 100_000
        /// The highest bit rate, in bits a second. The default is 2,500,000.
        package var maximum = 2_500_000
        /// The initial bit rate, in bits a second. The default is 1,000,000.
        package var start = 1_000_000
        /// The wait that shows a standing queue if every packet of ``window`` exceeds it. The default is 30
        /// milliseconds.
        package var standingQueue = Duration.milliseconds(30)
        /// The wait that shows a long queue if all packets of one report exceed it, and those of the one before waited.
        /// The default is 80 milliseconds.
        package var longQueue = Duration.milliseconds(80)
        /// The time that decisions look back. The default is 400 milliseconds.
        package var window = Duration.milliseconds(400)
        /// The longest time for which nothing is sent so that a long queue drains. The default is 800 milliseconds.
        package var longestPause = Duration.milliseconds(800)
        /// The largest fraction of what arrives that is sent while there is a standing queue. The default is 0.9.
        package var decrease = 0.9
        /// The time that a queue may take to drain while less is sent. The default is 1 second.
        package var drainTime = Duration.seconds(1)
        /// The largest multiple of what arrives that is sent, apart from slow probing. The default is 1.5.
        package var mostOverReceived = 1.5
        /// The fewest packets that show a loss. The default is 20.
        package var fewestPackets = 20

        /// Creates the default settings, which are known to work.
        package init() {}

        /// Checks the settings.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration`` for settings that contradict each other.
        package func validate() throws(InletError) {
            guard minimum <= start, start <= maximum, EncoderSettings.bitrates.contains(minimum),
                EncoderSettings.bitrates.contains(maximum)
            else {
                throw Self.error("The rates are in order: 1000 <= minimum <= start <= maximum <= 1,000,000,000.")
            }
            guard standingQueue > .zero, longQueue > standingQueue, window > .zero, drainTime > .zero,
                longestPause >= .zero
            else { throw Self.error("Queues are in order: 0 < standing < long. Times are greater than 0.") }
            guard 0 < decrease, decrease < 1, mostOverReceived > 1, fewestPackets > 0 else {
                throw Self.error("The parts are in order: 0 < decrease < 1 < most over received.")
            }
        }

        private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
    }

    /// The settings of this controller.
    package let settings: Settings
    /// The current bit rate, in bits a second.
    package var bitrate: Int { Int(rate) }
    private var rate: Double
    private var reports: [PathReport] = []
    private var lastTime: MonotonicTime?
    private var lastDecrease: MonotonicTime?
    /// The path's capacity: the received rate during a standing queue.
    private var capacity: Double?
    /// The time when the rate exceeded the capacity, which must have grown since.
    private var passedCapacity: MonotonicTime?
    /// The start of the standing queue, and the shortest wait of packets since then.
    private var standing: (since: MonotonicTime, shortest: Duration)?
    /// While nothing is sent: the start, the data sent before, and the time when that should have arrived.
    private var pause: Pause?
    private var lastPause: MonotonicTime?
    private struct Pause: Sendable {
        var since: MonotonicTime
        var rate: Double
        var until: MonotonicTime
    }
    /// A wait that does not go away by sending less.
    private var ownWait = Duration.zero
    private static let mostReports = 256
    /// The rises per second, as fractions of the rate: near the capacity, soon after a decrease, and after a while
    /// without an obstacle.
    private static let (slow, steady, fast) = (0.08, 0.15, 1.0)
    private static let (calm, cautious) = (Duration.milliseconds(1500), Duration.seconds(1))
    /// The range around the known capacity, as fractions of it, in which the capacity is considered unchanged.
    private static let near = 0.9...1.1
    private static let leastPart = 0.25
    private static let lowLoss = 0.02
    private static let highLoss = 0.1

    /// - Throws: ``InletError/Code/invalidConfiguration`` for settings that contradict each other.
    package init(_ settings: Settings = Settings()) throws(InletError) {
        try settings.validate()
        self.settings = settings
        rate = Double(settings.start)
    }

    /// Adds a report of the far end.
    package mutating func add(_ report: PathReport) {
        guard report.expected >= 0, report.lost >= 0, reports.last.map({ report.time >= $0.time }) ?? true else {
            return
        }
        var report = report
        report.queueing = report.queueing.map { wait in
            ownWait = min(ownWait, wait)
            return wait - ownWait
        }
        reports.append(report)
        if reports.count > Self.mostReports { reports.removeFirst() }
    }

    /// Makes the decisions that are due.
    package mutating func decide(at now: MonotonicTime) -> Int {
        let elapsed = lastTime.map { Double((now - $0).wholeNanoseconds) / 1e9 } ?? 0
        lastTime = now
        reports.removeAll { now - $0.time > .seconds(1) }
        let recent = reports.filter { now - $0.time <= settings.window }
        guard elapsed > 0, let last = recent.last else { return bitrate }
        let (received, loss) = (receivedBitrate(recent), loss)
        if pause != nil {
            drain(last, at: now)
            return bitrate
        }
        let queue = queue(recent, at: now)
        watch(queue?.0, at: now)
        if let (queue, arrived) = queue {
            let seconds = Double(queue.wholeNanoseconds) / Double(settings.drainTime.wholeNanoseconds)
            let part = max(Self.leastPart, min(settings.decrease, 1 - seconds))
            if let arrived {
                // The output of a full queue is the capacity of the path.
                capacity = arrived
                if queue > settings.longQueue, last.newestSent != nil, mayPause(at: now) {
                    pause = Pause(since: now, rate: rate, until: now)
                    lower(to: settings.decrease * arrived, at: now)
                    drain(last, at: now)
                } else {
                    lower(to: part * arrived, at: now)
                }
            } else if isSettled(at: now) {
                lower(to: part * rate, at: now)
            }
        } else if let loss, loss > Self.highLoss {
            guard isSettled(at: now) else { return bitrate }
            capacity = nil
            lower(to: rate * (1 - loss / 2), at: now)
            reports.removeAll()
        } else if loss ?? 0 <= Self.lowLoss {
            raise(
                for: min(elapsed, 0.5), received: received,
                waits: last.queueing, at: now)
        }
        return bitrate
    }

    /// The capacity of the path: more than ``bitrate`` while a queue drains.
    package var sustainedBitrate: Int { max(bitrate, min(settings.maximum, Int((capacity ?? 0) * settings.decrease))) }

    /// Returns whether a pause may begin: not soon after another, because a remaining queue is then others' traffic.
    private func mayPause(at now: MonotonicTime) -> Bool { lastPause.map { now - $0 >= settings.drainTime } ?? true }

    /// The time when the data in flight should have arrived.
    package var pausedUntil: MonotonicTime? { pause?.until }

    /// Checks how much of the data sent before the pause is still in flight, and ends the pause when all has arrived.
    private mutating func drain(_ report: PathReport, at now: MonotonicTime) {
        guard var current = pause, let capacity else { return }
        let missing = report.newestSent.map { current.since - $0 } ?? .zero
        if missing > .zero, capacity > 0 {
            let seconds = Double(missing.wholeNanoseconds) / 1e9 * current.rate / capacity
            let wait = Duration.nanoseconds(Int64(min(seconds, 10) * 1e9))
            current.until = min(report.time + wait, current.since + settings.longestPause)
        }
        guard missing > .zero, now < current.until else {
            (pause, lastPause) = (nil, now)
            reports.removeAll()
            return
        }
        pause = current
    }

    /// Returns the shortest wait of packets in a standing queue, and the rate received meanwhile; nil without a
    /// standing queue.
    private func queue(_ recent: [PathReport], at now: MonotonicTime) -> (Duration, arrived: Double?)? {
        // A queue grows gradually; packets that are suddenly late were delayed briefly, for example by a busy machine.
        let newest = recent.suffix(2)
        if newest.count == 2, let wait = newest.last?.queueing, wait > settings.longQueue,
            let before = newest.first?.queueing, before > settings.standingQueue
        {
            return (wait, receivedBitrate(newest))
        }
        let waited = recent.compactMap(\.queueing)
        guard waited.count >= 2, let shortest = waited.min(), shortest > settings.standingQueue else { return nil }
        return (shortest, receivedBitrate(recent))
    }

    /// Watches for a wait that lasts for seconds although less is sent than arrives: it is due to a longer route, or to
    /// others' traffic. Reducing the rate because of it would never end.
    private mutating func watch(_ queue: Duration?, at now: MonotonicTime) {
        guard let queue else {
            standing = nil
            return
        }
        let (since, shortest) = standing ?? (now, queue)
        standing = (since, min(shortest, queue))
        guard now - since > settings.drainTime * 4 else { return }
        ownWait += min(shortest, queue)
        standing = nil
        reports.removeAll()
    }

    /// Returns whether the effect of the last decrease is visible.
    private func isSettled(at now: MonotonicTime) -> Bool { lastDecrease.map { now - $0 >= settings.window } ?? true }

    private func receivedBitrate(_ reports: some Sequence<PathReport>) -> Double? {
        let rates = reports.compactMap(\.receivedBitrate)
        return rates.isEmpty ? nil : Double(rates.reduce(0, +)) / Double(rates.count)
    }

    /// The fraction of the last second's packets that was lost.
    private var loss: Double? {
        var (expected, lost) = (0, 0)
        for report in reports {
            (expected, lost) = (expected + report.expected, lost + min(report.lost, report.expected))
        }
        return expected >= settings.fewestPackets ? Double(lost) / Double(expected) : nil
    }

    private mutating func lower(to wanted: Double, at now: MonotonicTime) {
        rate = min(rate, max(Double(settings.minimum), wanted))
        lastDecrease = now
    }

    private mutating func raise(for seconds: Double, received: Double?, waits: Duration?, at now: MonotonicTime) {
        // Close to the limit, the rate stays unchanged.
        if let waits, waits * 3 > settings.standingQueue * 2 { return }
        if let known = capacity, waits != nil, rate < known * settings.decrease {
            // The queue is drained.
            rate = min(Double(settings.maximum), known * settings.decrease)
            return
        }
        if let known = capacity, rate > known * Self.near.upperBound { (capacity, passedCapacity) = (nil, now) }
        let isNear = capacity.map { rate > $0 * Self.near.lowerBound } ?? false
        let isCalm =
            lastDecrease.map { now - $0 >= Self.calm } ?? true
            && passedCapacity.map { now - $0 >= Self.cautious } ?? true
        let isKnown = received.map { rate < $0 * settings.mostOverReceived } ?? false
        let part = !isKnown || isNear ? Self.slow : isCalm ? Self.fast : Self.steady
        rate = min(Double(settings.maximum), rate * (1 + part * seconds))
    }
}
