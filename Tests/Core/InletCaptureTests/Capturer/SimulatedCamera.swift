import InletCore
import Testing

@testable import InletCapture

extension SplitMix64 {
    /// Nearly a normal distribution with a mean of 0 and a deviation of 1, never beyond 3.5.
    mutating func bell() -> Double { (fraction() + fraction() + fraction() + fraction() - 2) * 3.0.squareRoot() }
}

/// The delay that is added to the minimum between a camera and the capturer.
enum Jitter: String, CaseIterable, CustomTestStringConvertible {
    case none
    /// Half of a normal distribution of 5 ms: there is a minimum delay, and many frames come near it.
    case bell
    /// 3 ms, and one frame in fifty up to 200 ms late.
    case heavyTail
    /// Every ten seconds nothing arrives for a second, and then everything at once.
    case bursts
    /// A whole normal distribution of 5 ms, cut off at 19 ms: hardly a frame comes near the minimum delay, which is the
    /// worst case for a filter that looks for it.
    case wholeBell

    func delay(at seconds: Double, _ numbers: inout SplitMix64) -> Double {
        switch self {
        case .none: 0
        case .bell: abs(numbers.bell()) * 0.005
        case .heavyTail: abs(numbers.bell()) * 0.003 + (numbers.fraction() < 0.02 ? numbers.fraction() * 0.2 : 0)
        case .bursts:
            abs(numbers.bell()) * 0.002 + max(0, 1 - seconds.truncatingRemainder(dividingBy: 10))
        case .wholeBell: max(-0.019, numbers.bell() * 0.005)
        }
    }

    var testDescription: String { rawValue }
}

/// A camera with a clock error and its frames' delays, as numbers.
struct SimulatedCamera {
    /// The camera clock's rate relative to the machine's clock, in parts per million faster.
    var ppm: Double
    var jitter: Jitter
    var framesPerSecond = 30.0
    /// The amplitude by which the rate varies around `ppm` within a day, in parts per million.
    var dailySwing = 0.0

    /// A frame's capture, on the machine's clock in seconds, its PTS, and its arrival.
    struct Frame {
        var seconds: Double
        var pts: MediaTime
        var arrival: MonotonicTime
    }

    static let timeBase = Rational(1, 90_000)
    static let start: Int64 = 1_000_000_000
    static let leastDelay = 0.02

    /// Passes every frame of that many seconds to `place`, and returns the error of the values that it returned.
    ///
    /// - Parameter warmUp: the number of seconds at the start that do not count.
    func run(seconds: Double, warmUp: Double = 60, seed: UInt64 = 1, place: (Frame) -> MonotonicTime) -> Residuals {
        var numbers = SplitMix64(seed: seed)
        var arrival = Self.start
        var errors: [Double] = []
        var spacings: [Double] = []
        var last: (error: Double, time: MonotonicTime)?
        var residuals = Residuals()
        for index in 0..<Int(seconds * framesPerSecond) {
            let time = Double(index) / framesPerSecond
            let phase = time * 2 * Double.pi / 86_400
            // The integral of the variation; a parabola is as good as a sine here, and needs no library.
            let turn = (phase / (2 * Double.pi)).truncatingRemainder(dividingBy: 1) - 0.5
            let swing = dailySwing * 1e-6 * 86_400 * 0.5 * (0.25 - turn * turn)
            let camera = time * (1 + ppm * 1e-6) + swing
            let pts = Int64((camera * 90_000).rounded(.down)) + 12_345_678
            let delay = Self.leastDelay + jitter.delay(at: time, &numbers)
            arrival = max(arrival + 1000, Self.start + Int64((time + delay) * 1e9))
            let frame = Frame(
                seconds: time, pts: MediaTime(ticks: pts, timeBase: Self.timeBase),
                arrival: MonotonicTime(nanoseconds: arrival))
            let stamp = place(frame)
            let error = Double(stamp.nanoseconds - Self.start) / 1e3 - time * 1e6
            if stamp > frame.arrival { residuals.inTheFuture += 1 }
            if let last {
                if stamp <= last.time { residuals.notIncreasing += 1 }
                if time > warmUp { spacings.append(abs(error - last.error)) }
            }
            if time > warmUp { errors.append(error) }
            last = (error, stamp)
        }
        let quarter = errors.count / 4
        residuals.growth = Quantiles(Array(errors.suffix(quarter))).p50 - Quantiles(Array(errors.prefix(quarter))).p50
        residuals.delay = Quantiles(errors).p50
        residuals.error = Quantiles(errors.map { abs($0 - residuals.delay) })
        residuals.spacing = Quantiles(spacings)
        return residuals
    }
}

/// The error of timestamps, in microseconds.
struct Residuals: CustomStringConvertible {
    /// The constant delay: the median of timestamp minus capture time.
    var delay = 0.0
    /// The increase of the delay from the first quarter to the last.
    var growth = 0.0
    /// The deviation from the constant delay.
    var error = Quantiles([])
    /// The difference between a frame's distance from the previous one and that of their captures.
    var spacing = Quantiles([])
    var inTheFuture = 0
    var notIncreasing = 0

    var description: String {
        "error \(error), spacing \(spacing), delay \(delay.rounded()) growing by \(growth.rounded()) us"
    }
}

/// The median, the 99th percentile and the maximum of some numbers.
struct Quantiles: CustomStringConvertible {
    var p50 = 0.0
    var p99 = 0.0
    var max = 0.0

    init(_ values: [Double]) {
        let sorted = values.sorted()
        guard let last = sorted.last else { return }
        p50 = sorted[sorted.count / 2]
        p99 = sorted[sorted.count * 99 / 100]
        max = last
    }

    func isWithin(_ bounds: (p50: Double, p99: Double, max: Double)) -> Bool {
        p50 <= bounds.p50 && p99 <= bounds.p99 && max <= bounds.max
    }

    var description: String { "\(tenths(p50))/\(tenths(p99))/\(tenths(max)) us" }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

/// A clock without a filter: the first frame's arrival plus the PTS, moved only if the result would be in the future.
struct NaiveAnchor {
    private var offset: Int64?

    mutating func stamp(_ frame: SimulatedCamera.Frame) -> MonotonicTime {
        let arrival = frame.arrival.nanoseconds - frame.pts.nanoseconds
        let anchor = min(offset ?? arrival, arrival)
        offset = anchor
        return MonotonicTime(nanoseconds: frame.pts.nanoseconds + anchor)
    }
}
