import FoundationEssentials
import Inlet

/// A picture whose code was read.
struct LatencySample: Hashable {
    /// The number in the picture, modulo 2^32.
    var number: UInt32
    /// The time when it was drawn.
    var drawn: MonotonicTime
    /// The time when a sink got it, decoded and converted.
    var arrived: MonotonicTime
    /// Its place on the capture timeline.
    var timestamp: MonotonicTime
}

/// The measurements of the path of pictures with known times.
struct LatencyReport: Encodable, Hashable {
    /// The source's name, without credentials.
    var source: String
    /// The number of received pictures with a code, without repetitions.
    var pictures: Int
    /// The number of pictures missing between the first and the last.
    var lost: Int
    /// The number of repeated pictures.
    var repeated: Int
    /// The number of pictures without a readable code.
    var unreadable: Int
    /// From the first picture to the last, in seconds.
    var seconds: Double
    /// From drawing to arrival, in milliseconds.
    var delay: Delay
    /// The mean difference from one picture's delay to the next one's, in milliseconds.
    var jitter: Double
    /// The distance of the capture timeline from the times in the pictures.
    var clock: ClockError

    /// A distribution, in milliseconds.
    struct Delay: Encodable, Hashable {
        var p50: Double
        var p95: Double
        var p99: Double
        var least: Double
        var most: Double
    }

    /// The capture timeline against the times in the pictures. A constant distance is no error.
    struct ClockError: Encodable, Hashable {
        /// The largest error of 95 of 100 timestamps, in milliseconds, from the median of all.
        var p95: Double
        /// The rate at which the timeline runs fast, in millionths; not meaningful for less than two seconds.
        var drift: Double

        enum CodingKeys: String, CodingKey {
            case p95 = "p95_ms"
            case drift = "drift_ppm"
        }
    }

    enum CodingKeys: String, CodingKey {
        case source, pictures, lost, repeated, unreadable, seconds, clock
        case delay = "delay_ms"
        case jitter = "jitter_ms"
    }

    /// - Parameters:
    ///   - samples: in the order of their arrival.
    ///   - unreadable: the number of pictures without a code.
    ///   - isFilmed: whether a camera has filmed the code, for the wording.
    /// - Throws: ``InletError/Code/malformedData`` if there are no samples; ``InletError/Code/unsupported`` if their
    ///   times are not from this machine's clock.
    init(source: String, _ samples: [LatencySample], unreadable: Int, isFilmed: Bool = false) throws(InletError) {
        var seen = Set<UInt32>()
        let fresh = samples.filter { seen.insert($0.number).inserted }
        guard let first = fresh.first, let last = fresh.last else {
            throw InletError(
                .malformedData,
                unreadable == 0
                    ? "No picture arrived."
                    : isFilmed
                        ? "The page's code was found in none of \(unreadable) pictures. Its whole white frame must be in the picture, sharp, and brighter than everything else."
                        : "No code was readable in \(unreadable) pictures. The source must show pattern:timecode, not cropped and not rotated."
            )
        }
        let delays = fresh.map { Self.milliseconds($0.arrived - $0.drawn) }
        let sorted = delays.sorted()
        guard sorted[0] >= 0, sorted[0] < 3_600_000 else {
            throw InletError(
                .unsupported,
                "The times in the pictures are not from this machine's clock. Draw the pictures on this machine with inlet run pattern:timecode; do not use a recording."
            )
        }
        self.source = source
        self.unreadable = unreadable
        pictures = fresh.count
        repeated = samples.count - fresh.count
        // Numbers are distinguished by their distance from the first, because they restart after 2^32.
        let offsets = fresh.map { Int(Int32(bitPattern: $0.number &- first.number)) }
        lost = (offsets.max() ?? 0) - (offsets.min() ?? 0) + 1 - fresh.count
        seconds = Self.rounded(Self.milliseconds(last.arrived - first.arrived) / 1000)
        delay = Delay(
            p50: Self.rounded(Self.quantile(sorted, 0.5)), p95: Self.rounded(Self.quantile(sorted, 0.95)),
            p99: Self.rounded(Self.quantile(sorted, 0.99)), least: Self.rounded(sorted[0]),
            most: Self.rounded(sorted[sorted.count - 1]))
        let steps = zip(delays, delays.dropFirst()).map { abs($1 - $0) }
        jitter = steps.isEmpty ? 0 : Self.rounded(steps.reduce(0, +) / Double(steps.count))
        clock = Self.clockError(fresh)
    }

    private static func clockError(_ samples: [LatencySample]) -> ClockError {
        let start = samples[0].drawn
        let distances = samples.map { milliseconds($0.timestamp - $0.drawn) }
        let median = quantile(distances.sorted(), 0.5)
        let errors = distances.map { abs($0 - median) }.sorted()
        // The slope of the line with the least squares.
        let times = samples.map { milliseconds($0.drawn - start) }
        let count = Double(samples.count)
        let middle = times.reduce(0, +) / count
        let mean = distances.reduce(0, +) / count
        let spread = times.reduce(0) { $0 + ($1 - middle) * ($1 - middle) }
        let common = zip(times, distances).reduce(0) { $0 + ($1.0 - middle) * ($1.1 - mean) }
        let isLong = (times.max() ?? 0) >= 2000
        return ClockError(
            p95: rounded(quantile(errors, 0.95)),
            drift: isLong && spread > 0 ? rounded(common / spread * 1_000_000) : 0)
    }

    /// Returns a quantile by the nearest rank: that fraction of all values is at most this value.
    static func quantile(_ sorted: [Double], _ part: Double) -> Double {
        let rank = (part * Double(sorted.count)).rounded(.up)
        return sorted[min(sorted.count - 1, max(0, Int(rank) - 1))]
    }

    /// Rounds to a thousandth, which is a microsecond if the unit is a millisecond.
    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    static func milliseconds(_ duration: Duration) -> Double { Double(duration.wholeNanoseconds) / 1_000_000 }

    /// A few lines for people.
    var text: String {
        func shown(_ value: Double) -> String { "\(Double((value * 10).rounded()) / 10) ms" }
        return """
            \(source): \(pictures) pictures in \((seconds * 10).rounded() / 10) s, \(lost) lost, \(repeated) repeated, \
            \(unreadable) without a code
            delay   p50 \(shown(delay.p50)), p95 \(shown(delay.p95)), p99 \(shown(delay.p99)); \
            least \(shown(delay.least)), most \(shown(delay.most))
            jitter  \(shown(jitter)) from picture to picture
            clock   95 of 100 timestamps within \(shown(clock.p95)), drift \(Int(clock.drift.rounded())) ppm
            """
    }

    /// One line of JSON.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
