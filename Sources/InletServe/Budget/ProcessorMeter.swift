import DequeModule
import InletCore

/// How many cores are in use, of late, from what was used in sum. Pure.
struct ProcessorMeter: Sendable {
    /// What was used in sum up to a moment.
    struct Reading: Sendable {
        var time: MonotonicTime
        var total: Duration
        var cameras: [String: Duration]
    }

    /// The stretch of time that is looked at.
    static let window = Duration.seconds(3)

    private var readings: Deque<Reading> = []

    /// Adds a reading, which is no older than the last.
    mutating func add(_ reading: Reading) {
        readings.append(reading)
        while readings.count > 2, reading.time - readings[1].time >= Self.window { readings.removeFirst() }
    }

    /// The cores of all together; nil after fewer than two readings.
    var total: Double? { cores { $0.total } }

    /// The cores of a camera; zero for one that is not known yet.
    func cores(of camera: String) -> Double { cores { $0.cameras[camera] } ?? 0 }

    private func cores(_ used: (Reading) -> Duration?) -> Double? {
        guard let first = readings.first, let last = readings.last, last.time > first.time, let before = used(first),
            let now = used(last)
        else { return nil }
        return max(0, (now - before) / (last.time - first.time))
    }
}
