package import InletCore

/// Follows what the path takes, by what arrives and by how long it waits on the way: the controller for peers that
/// report each packet's arrival.
///
/// - Packets that all wait show a queue that stands, as more is sent than the path takes. The rate then goes below what
///   arrives, the further the longer they wait, so that the queue drains. Where it is long, nothing is sent until what
///   is on its way is through, as any picture would come late. One that does not drain, though less is sent, is taken
///   for the path's own.
/// - Loss above a tenth takes half of its part off the rate; between a fiftieth and a tenth the rate stays, as such
///   loss may be the path's own.
/// - Otherwise the rate rises: by a part each second that grows for as long as nothing is in the way, and slowly near
///   where the path was full before. Where less arrives than the rate allows, as pictures are easy, it rises little by
///   little, as nothing is known of the path beyond what came through.
///
/// After the ideas of draft-ietf-rmcat-gcc-02, with a measured one-way delay in the place of its gradient.
package struct DelayController: RateController {
    /// What it goes by.
    package struct Settings: Sendable, Hashable {
        /// Never fewer bits a second. The default is 100,000.
        package var minimum = 100_000
        /// Never more bits a second. The default is 2,500,000.
        package var maximum = 2_500_000
        /// Bits a second at first. The default is 1,000,000.
        package var start = 1_000_000
        /// A queue stands where every packet of ``window`` waits longer than this. The default is 30 milliseconds.
        package var standingQueue = Duration.milliseconds(30)
        /// Where all packets of one report wait longer than this, and those of the one before waited, the queue is
        /// long. The default is 80 milliseconds.
        package var longQueue = Duration.milliseconds(80)
        /// What is looked back at. The default is 400 milliseconds.
        package var window = Duration.milliseconds(400)
        /// The longest that nothing is sent, so that a long queue drains. The default is 800 milliseconds.
        package var longestPause = Duration.milliseconds(800)
        /// Of what arrives, what is sent at most while a queue stands. The default is 0.9.
        package var decrease = 0.9
        /// How long a queue may take to drain, by sending so much less. The default is 1 second.
        package var drainTime = Duration.seconds(1)
        /// No more than this many times what arrives is sent, but for what is found out little by little. The default
        /// is 1.5.
        package var mostOverReceived = 1.5
        /// Fewer packets than this tell no loss. The default is 20.
        package var fewestPackets = 20

        /// The settings that are known to work.
        package init() {}

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

    /// What it goes by.
    package let settings: Settings
    /// Bits a second, now.
    package var bitrate: Int { Int(rate) }
    private var rate: Double
    private var reports: [PathReport] = []
    private var lastTime: MonotonicTime?
    private var lastDecrease: MonotonicTime?
    /// What arrived while a queue stood: what the path takes.
    private var capacity: Double?
    /// When the rate went above it, as it is more by now.
    private var passedCapacity: MonotonicTime?
    /// Since when a queue stands, and what packets waited at least since then.
    private var standing: (since: MonotonicTime, shortest: Duration)?
    /// While nothing is sent: since when, what was sent before, and when it is to be through.
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
    /// Parts of the rate a second: near the capacity, soon after a decrease, and when nothing was in the way for a
    /// while.
    private static let (slow, steady, fast) = (0.08, 0.15, 1.0)
    private static let (calm, cautious) = (Duration.milliseconds(1500), Duration.seconds(1))
    /// Up to this part above the capacity that was seen, that is taken to be still the same.
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

    /// Takes in what the far end saw.
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
                // What comes out of a queue is what the path takes.
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

    /// What the path bears: more than ``bitrate`` while a queue drains.
    package var sustainedBitrate: Int { max(bitrate, min(settings.maximum, Int((capacity ?? 0) * settings.decrease))) }

    /// Not so soon after another, as what is still in a queue then is not ours.
    private func mayPause(at now: MonotonicTime) -> Bool { lastPause.map { now - $0 >= settings.drainTime } ?? true }

    /// When what is on its way is through.
    package var pausedUntil: MonotonicTime? { pause?.until }

    /// Looks how much of what was sent before the pause is still on its way, and ends the pause when that is through.
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

    /// How long packets wait at least while a queue stands, and what arrives then; nil where none stands.
    private func queue(_ recent: [PathReport], at now: MonotonicTime) -> (Duration, arrived: Double?)? {
        // A queue grows; what is late all at once was held up for a moment, as by a machine that had other things to
        // do.
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

    /// A queue that stands for seconds although less is sent than comes out is none of ours: a longer route, or others
    /// who fill it. Giving way to it would be for ever.
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

    /// Whether what the last decrease did can be seen.
    private func isSettled(at now: MonotonicTime) -> Bool { lastDecrease.map { now - $0 >= settings.window } ?? true }

    private func receivedBitrate(_ reports: some Sequence<PathReport>) -> Double? {
        let rates = reports.compactMap(\.receivedBitrate)
        return rates.isEmpty ? nil : Double(rates.reduce(0, +)) / Double(rates.count)
    }

    /// Of the packets of the last second.
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
        // On the edge it is left as it is.
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
