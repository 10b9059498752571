import Dispatch
import InletCore
import Synchronization

@testable import InletTesting

/// The machine's clock with a count of its reads: a loop that does not block reads it all the time.
final class CountingClock: CaptureClock {
    private let clock = RealClock()
    private let count = Atomic(0)

    /// The number of times that the clock was read.
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
