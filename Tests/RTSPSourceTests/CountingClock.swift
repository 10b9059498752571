import Dispatch
import InletCore
import Synchronization

@testable import InletTesting

/// The machine's clock, which counts how often it is read: a loop that waits for nothing reads it all the time.
final class CountingClock: CaptureClock {
    private let clock = RealClock()
    private let count = Atomic(0)

    /// How often the time was read.
    var reads: Int { count.load(ordering: .relaxed) }

    var now: MonotonicTime {
        count.add(1, ordering: .relaxed)
        return clock.now
    }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        clock.wait(until: deadline, wakeUpDescriptor: wakeUpDescriptor)
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        clock.makeTimer(on: queue, handler: handler)
    }
}
