public import InletCore

/// The simple controller: changes the rate in steps, only by loss.
///
/// Every ``Settings/interval`` it checks the loss of the last ``Settings/window``: up to and including
/// ``Settings/lowLoss`` it steps up, from ``Settings/highLoss`` on it steps down, between the two it does nothing.
/// Every ``Settings/criticalInterval`` it checks the loss since its last check: from ``Settings/criticalLoss`` on it
/// takes a large step down at once. Packets lost before a step down do not count against the rate after it.
public struct LossStepper: RateController {
    /// The settings of the controller.
    public struct Settings: Sendable, Hashable {
        /// The lowest bit rate, in bits a second. The default is 100,000.
        public var minimum = 100_000
        /// The highest bit rate, in bits a second. The default is 6,000,000.
        public var maximum = 6_000_000
        /// The initial bit rate, in bits a second. The default is 1,000,000.
        public var start = 1_000_000
        /// The step up, as a fraction of the rate. The default is 0.15.
        public var stepUp = 0.15
        /// The step down, as a fraction of the rate. The default is 0.15.
        public var stepDown = 0.15
        /// The step down when the loss is critical, as a fraction of the rate. The default is 0.25.
        public var criticalStep = 0.25
        /// The highest loss at which the rate steps up, as a fraction of the packets. The default is 0.01.
        public var lowLoss = 0.01
        /// The lowest loss at which the rate steps down. The default is 0.05.
        public var highLoss = 0.05
        /// The lowest loss that is critical. The default is 0.1.
        public var criticalLoss = 0.1
        /// The time between decisions. The default is 5 seconds.
        public var interval = Duration.seconds(5)
        /// The time that a decision looks back. The default is 10 seconds.
        public var window = Duration.seconds(10)
        /// The time between checks for critical loss. The default is 1 second.
        public var criticalInterval = Duration.seconds(1)
        /// The fewest packets that a decision needs. The default is 10.
        public var fewestPackets = 10

        /// Creates the default settings, which are known to work.
        public init() {}

        /// Checks the settings.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration`` for settings that contradict each other.
        public func validate() throws(InletError) {
            guard minimum <= start, start <= maximum, EncoderSettings.bitrates.contains(minimum),
                EncoderSettings.bitrates.contains(maximum)
            else {
                throw Self.error("The rates are in order: 1000 <= minimum <= start <= maximum <= 1,000,000,000.")
            }
            guard 0 <= lowLoss, lowLoss < highLoss, highLoss <= criticalLoss, criticalLoss <= 1 else {
                throw Self.error("The losses are in order: 0 <= low < high <= critical <= 1.")
            }
            guard stepUp > 0, 0 < stepDown, stepDown < 1, 0 < criticalStep, criticalStep < 1 else {
                throw Self.error("A step up is greater than 0; a step down lies between 0 and 1.")
            }
            guard interval > .zero, criticalInterval > .zero, window >= interval, fewestPackets > 0 else {
                throw Self.error("Intervals are greater than 0, and the window is no shorter than one.")
            }
        }

        private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
    }

    /// The settings of this controller.
    public let settings: Settings
    /// The current bit rate, in bits a second.
    public private(set) var bitrate: Int
    private var reports: [PathReport] = []
    private var lastDecision: MonotonicTime?
    private var lastLook: MonotonicTime?
    private static let mostReports = 1000

    /// - Throws: ``InletError/Code/invalidConfiguration`` for settings that contradict each other.
    package init(_ settings: Settings = Settings()) throws(InletError) {
        try settings.validate()
        self.settings = settings
        bitrate = settings.start
    }

    /// Adds a report of the far end.
    package mutating func add(_ report: PathReport) {
        guard report.expected >= 0, report.lost >= 0, reports.last.map({ report.time >= $0.time }) ?? true else {
            return
        }
        reports.append(report)
        if reports.count > Self.mostReports { reports.removeFirst() }
    }

    /// Makes the decisions that are due.
    package mutating func decide(at now: MonotonicTime) -> Int {
        let look = lastLook ?? now
        lastLook = look
        lastDecision = lastDecision ?? now
        if now - look >= settings.criticalInterval {
            lastLook = now
            if let loss = loss(since: look), loss >= settings.criticalLoss {
                step(by: 1 - settings.criticalStep)
                forget(at: now)
                return bitrate
            }
        }
        if let last = lastDecision, now - last >= settings.interval {
            lastDecision = now
            reports.removeAll { now - $0.time > settings.window }
            guard let loss = loss(since: now - settings.window) else { return bitrate }
            if loss <= settings.lowLoss {
                step(by: 1 + settings.stepUp)
            } else if loss >= settings.highLoss {
                step(by: 1 - settings.stepDown)
                forget(at: now)
            }
        }
        return bitrate
    }

    private func loss(since start: MonotonicTime) -> Double? {
        var (expected, lost) = (0, 0)
        for report in reports where report.time > start {
            (expected, lost) = (expected + report.expected, lost + min(report.lost, report.expected))
        }
        return expected >= settings.fewestPackets ? Double(lost) / Double(expected) : nil
    }

    private mutating func step(by factor: Double) {
        let wanted = (Double(bitrate) * factor).rounded()
        bitrate = min(settings.maximum, max(settings.minimum, Int(min(wanted, 1e12))))
    }

    private mutating func forget(at now: MonotonicTime) {
        reports.removeAll()
        lastDecision = now
    }
}
