import InletCapture
import InletCore
import Synchronization

/// Limits the rate of events for each camera and kind, so that a device with a flood of events does not hide those of
/// other cameras. Safe from any thread.
///
/// A burst of events passes immediately. After that, one event passes each second. It is always the latest, so the last
/// state of a camera is never lost. The event's text states how many events before it were omitted.
final class EventLimiter: Sendable {
    /// The number of events that pass immediately.
    static let burst = 10
    /// The time after which a further event passes.
    static let interval = Duration.seconds(1)
    /// The maximum number of counts that are kept, unless more are in use.
    private static let mostCounts = 1000

    private struct Key: Hashable {
        var camera: String?
        var kind: String
    }

    private struct Count {
        /// The time at which a full burst may pass again.
        var free: MonotonicTime
        /// The latest event that has not passed yet.
        var held: CameraSetEvent?
        var leftOut = 0
    }

    private let clock: any CaptureClock
    private let counts = Mutex<[Key: Count]>([:])

    init(clock: any CaptureClock) { self.clock = clock }

    /// Passes an event on, immediately or later. Omits it if a later event of the same kind replaces it.
    func pass(_ event: CameraSetEvent, to deliver: @escaping @Sendable (CameraSetEvent) -> Void) {
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

    private func release(_ key: Key) -> CameraSetEvent? {
        let now = clock.now
        return counts.withLock { counts in
            guard var count = counts[key], var event = count.held else { return nil }
            if count.leftOut > 0 { event.text += " (Events omitted before it: \(count.leftOut).)" }
            count.free = max(count.free, now) + Self.interval
            (count.held, count.leftOut) = (nil, 0)
            counts[key] = count
            return event
        }
    }
}
