import InletCore
import Synchronization

/// A timer of a ``ManualClock``.
final class ManualTimer: CaptureTimer {
    private let number: Int
    private let clock: ManualClock

    init(_ number: Int, of clock: ManualClock) {
        self.number = number
        self.clock = clock
    }

    deinit { cancel() }

    func set(for time: MonotonicTime, leeway: Duration) {
        let number = number
        clock.change { state in
            state.settingCount += 1
            state.timers[number]?.number = state.settingCount
            state.timers[number]?.time = time == .distantFuture ? nil : time
        }
    }

    func cancel() {
        // Objects that the handler refers to are released outside of the lock.
        let setting = clock.state.withLock { $0.timers.removeValue(forKey: number) }
        withExtendedLifetime(setting) {}
    }
}
