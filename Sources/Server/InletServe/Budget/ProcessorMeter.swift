import DequeModule
import InletCore

/// Computes the number of cores recently in use from the total processor time. Pure.
struct ProcessorMeter: Sendable {
    /// The total processor time at a moment.
    struct Reading: Sendable {
        var time: MonotonicTime
        var total: Duration
        var cameras: [String: Duration]
    }

    /// The time span that is measured.
    static let window = Duration.seconds(3)

    private var readings: Deque<Reading> = []

    /// Adds a reading, which must not be older than the last one.
    mutating func add(_ reading: Reading) {
        readings.append(reading)
        while readings.count > 2, reading.time - readings[1].time >= Self.window { readings.removeFirst() }
    }

    /// The cores in use in total; nil with fewer than two readings.
    var total: Double? { cores { $0.total } }

    /// Returns the cores that a camera uses; zero for an unknown camera.
    func cores(of camera: String) -> Double { cores { $0.cameras[camera] } ?? 0 }

    private func cores(_ used: (Reading) -> Duration?) -> Double? {
        guard let first = readings.first, let last = readings.last, last.time > first.time, let before = used(first),
            let now = used(last)
        else { return nil }
        return max(0, (now - before) / (last.time - first.time))
    }
}
