import Dispatch
import InletCore
import InletTesting
import Testing

struct ManualClockTests {
    /// Waits on a thread of its own, so that no thread of the test runner is blocked.
    private func wait(_ clock: ManualClock, for duration: Duration, descriptor: Int32 = -1) async -> Bool {
        let deadline = clock.now + duration
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "waiter").async {
                continuation.resume(returning: clock.wait(until: deadline, wakeUpDescriptor: descriptor))
            }
        }
    }

    @Test("a wait ends when the time has been moved to its deadline, and not before")
    func advance() async {
        let clock = ManualClock()
        async let short = wait(clock, for: .seconds(1))
        async let long = wait(clock, for: .seconds(3))
        await clock.waiters(atLeast: 2)
        clock.advance(by: .seconds(1))
        #expect(await short)
        // The long one still waits: nothing but an advance can end it.
        #expect(clock.waiterCount == 1)
        clock.advance(by: .seconds(2))
        #expect(await long)
        #expect(clock.waiterCount == 0)
        #expect(clock.now == MonotonicTime(nanoseconds: 4_000_000_000))
    }

    @Test("a wait ends early when it is woken, and says so")
    func wake() async {
        let clock = ManualClock()
        async let woken = wait(clock, for: .seconds(1))
        await clock.waiters()
        clock.wakeAll()
        #expect(await !woken)
        #expect(clock.now == MonotonicTime(nanoseconds: 1_000_000_000))
    }

    @Test("a deadline that has passed is not waited for")
    func past() async {
        #expect(await wait(ManualClock(), for: .zero))
    }

    @Test("a clock that moves itself jumps to each deadline, and never back")
    func movesTime() {
        let clock = ManualClock(waiting: .movesTime)
        let start = clock.now
        #expect(clock.wait(until: start + .seconds(5), wakeUpDescriptor: -1))
        #expect(clock.wait(until: start + .seconds(2), wakeUpDescriptor: -1))
        #expect(clock.now - start == .seconds(5))
    }
}
