import InletCapture
import InletCore
import Synchronization

/// Limits the rate of events of each camera and kind, so that a device that floods events silences no other camera.
/// Safe from any thread.
///
/// Events up to a burst pass at once. After that, one passes each second, and it is always the latest: the last state
/// of a camera is never lost. The text of an event states how many before it were left out.
final class EventLimiter: Sendable {
    /// The number of events that pass at once.
    static let burst = 10
    /// The time after which a further one passes.
    static let interval = Duration.seconds(1)
    /// The most counts of events that are kept, unless more are in use.
    private static let mostCounts = 1000

    private struct Key: Hashable {
        var camera: String?
        var kind: String
    }

    private struct Count {
        /// The time at which a whole burst may pass again.
        var free: MonotonicTime
        /// The latest event that has not passed.
        var held: FleetEvent?
        var leftOut = 0
    }

    private let clock: any CaptureClock
    private let counts = Mutex<[Key: Count]>([:])

    init(clock: any CaptureClock) { self.clock = clock }

    /// Passes an event on, now or later, or leaves it out if a later one of its kind follows.
    func pass(_ event: FleetEvent, to deliver: @escaping @Sendable (FleetEvent) -> Void) {
        let (key, now) = (Key(camera: event.camera, kind: event.kind), clock.now)
        let (isPassed, wait) = counts.withLock { counts in
            if counts.count >= Self.mostCounts {
                counts = counts.filter { $0.value.free > now || $0.value.held != nil }
            }
            var count = counts[key] ?? Count(free: now)
            defer { counts[key] = count }
            if count.held != nil {
                count.held = event
                count.leftOut += 1
                return (false, Duration?.none)
            }
            let free = max(count.free, now) + Self.interval
            let wait = free - now - Self.interval * Self.burst
            if wait <= .zero {
                count.free = free
                return (true, nil)
            }
            count.held = event
            return (false, wait)
        }
        if isPassed { deliver(event) }
        guard let wait else { return }
        Task { [weak self, clock] in
            await clock.sleep(for: wait)
            if let event = self?.release(key) { deliver(event) }
        }
    }

    private func release(_ key: Key) -> FleetEvent? {
        let now = clock.now
        return counts.withLock { counts in
            guard var count = counts[key], var event = count.held else { return nil }
            if count.leftOut > 0 { event.text += " (\(count.leftOut) before it were left out.)" }
            count.free = max(count.free, now) + Self.interval
            (count.held, count.leftOut) = (nil, 0)
            counts[key] = count
            return event
        }
    }
}
