import Dispatch
import InletCapture
import InletCore
import ReferenceTools
import Synchronization
import Testing

/// The timers of the machine's clock. The waits are milliseconds long, and no test depends on how late a timer is.
@Suite(.timeLimit(.minutes(1))) struct SystemClockTests {
    private let clock = SystemClock()
    private let queue = DispatchQueue(label: "timer")

    /// Records the calls of a handler.
    private final class Calls: Sendable {
        private let times = Mutex<[MonotonicTime]>([])
        var all: [MonotonicTime] { times.withLock { $0 } }
        func note() { times.withLock { $0.append(SystemClock().now) } }
    }

    private func calls(_ calls: Calls, _ count: Int) async { await Waiting.until { calls.all.count >= count } }

    /// Runs after all timers that are due now: a timer for a later time is called later.
    private func passTime() async {
        let later = Calls()
        let timer = clock.makeTimer(on: queue) { later.note() }
        timer.set(for: clock.now + .milliseconds(30))
        await calls(later, 1)
        timer.cancel()
    }

    @Test("A timer calls once for each time it was set to, not before it; at once if the time has passed")
    func set() async {
        let calls = Calls()
        let timer = clock.makeTimer(on: queue) { calls.note() }
        let times = [clock.now + .milliseconds(5), clock.now - .seconds(1), MonotonicTime(nanoseconds: .min)]
        for (index, time) in times.enumerated() {
            timer.set(for: time, leeway: .milliseconds(1))
            await self.calls(calls, index + 1)
        }
        await passTime()
        #expect(calls.all.count == 3)
        #expect(calls.all[0] >= times[0])
        timer.cancel()
    }

    @Test("A newly set time replaces the one before, and distantFuture disarms the timer")
    func replace() async {
        let calls = Calls()
        let timer = clock.makeTimer(on: queue) { calls.note() }
        timer.set(for: clock.now + .seconds(3600))
        timer.set(for: clock.now + .milliseconds(1))
        await self.calls(calls, 1)
        // On its queue it also replaces a time that is due and has not called.
        queue.sync {
            timer.set(for: clock.now + .milliseconds(5))
            timer.set(for: .distantFuture)
        }
        await passTime()
        #expect(calls.all.count == 1)
        queue.sync {
            timer.set(for: clock.now)
            _ = clock.wait(until: clock.now + .milliseconds(5), wakeUpDescriptor: -1)
            timer.set(for: .distantFuture)
        }
        await passTime()
        #expect(calls.all.count == 1)
        timer.cancel()
    }

    @Test("A cancelled or unreferenced timer does not call, whether or not it is set")
    func cancel() async {
        let calls = Calls()
        let cancelled = clock.makeTimer(on: queue) { calls.note() }
        // On the timers' queue: elsewhere, a due timer may still call.
        queue.sync {
            cancelled.set(for: clock.now + .milliseconds(5))
            cancelled.cancel()
            cancelled.cancel()
            cancelled.set(for: clock.now)
            _ = clock.makeTimer(on: queue) { calls.note() }
            clock.makeTimer(on: queue) { calls.note() }.set(for: clock.now + .milliseconds(5))
        }
        queue.sync {
            let timer = clock.makeTimer(on: queue) { calls.note() }
            timer.set(for: clock.now)
            _ = clock.wait(until: clock.now + .milliseconds(5), wakeUpDescriptor: -1)
            timer.cancel()
        }
        await passTime()
        #expect(calls.all.isEmpty)
    }
}
