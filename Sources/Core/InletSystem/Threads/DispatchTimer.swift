package import Dispatch
package import InletCore
import Synchronization

/// A timer on the machine's monotonic clock, as made by system clocks.
package final class DispatchTimer: CaptureTimer {
    private let source: Mutex<any DispatchSourceTimer>

    package init(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: handler)
        // A timer that was never activated cannot be released. It has no time yet, and costs no wake-up.
        source.activate()
        self.source = Mutex(source)
    }

    deinit { cancel() }

    package func set(for time: MonotonicTime, leeway: Duration) {
        guard time != .distantFuture else {
            source.withLock { $0.schedule(deadline: .distantFuture) }
            return
        }
        let delay = max(0, (time - .now).wholeNanoseconds)
        source.withLock {
            $0.schedule(
                deadline: .now() + .nanoseconds(Int(clamping: delay)),
                leeway: .nanoseconds(Int(clamping: leeway.wholeNanoseconds)))
        }
    }

    package func cancel() { source.withLock { $0.cancel() } }
}
