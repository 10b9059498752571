import Dispatch
import InletCore
import Synchronization
import Testing

@testable import InletTesting

struct ManualClockTests {
    /// Waits on a separate thread, so that no thread of the test runner is blocked.
    private func wait(_ clock: ManualClock, for duration: Duration, descriptor: Int32 = -1) async -> Bool {
        let deadline = clock.now + duration
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "waiter").async {
                continuation.resume(returning: clock.wait(until: deadline, wakeUpDescriptor: descriptor))
            }
        }
    }

    @Test("a wait ends when the time reaches its deadline, and not before")
    func advance() async {
        let clock = ManualClock()
        async let short = wait(clock, for: .seconds(1))
        async let long = wait(clock, for: .seconds(3))
        await clock.waiters(atLeast: 2)
        clock.advance(by: .seconds(1))
        #expect(await short)
        // The longer wait continues: only an advance can end it.
        #expect(clock.waiterCount == 1)
        clock.advance(by: .seconds(2))
        #expect(await long)
        #expect(clock.waiterCount == 0)
        #expect(clock.now == MonotonicTime(nanoseconds: 4_000_000_000))
    }

    @Test("a wait ends early when it is woken, and reports that")
    func wake() async {
        let clock = ManualClock()
        async let woken = wait(clock, for: .seconds(1))
        await clock.waiters()
        clock.wakeAll()
        #expect(await !woken)
        #expect(clock.now == MonotonicTime(nanoseconds: 1_000_000_000))
    }

    @Test("a wait for a past deadline returns at once")
    func past() async {
        #expect(await wait(ManualClock(), for: .zero))
    }

    @Test("a clock that moves its time jumps to each deadline, and never back")
    func movesTime() {
        let clock = ManualClock(waiting: .movesTime)
        let start = clock.now
        #expect(clock.wait(until: start + .seconds(5), wakeUpDescriptor: -1))
        #expect(clock.wait(until: start + .seconds(2), wakeUpDescriptor: -1))
        #expect(clock.now - start == .seconds(5))
    }

    // MARK: Timers

    /// Records events.
    private final class Notes: Sendable {
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    private let queue = DispatchQueue(label: "timers")

    @Test("Timers fire in the order of their times, each once, when the time has come")
    func timers() async {
        let (clock, notes) = (ManualClock(), Notes())
        let timers = ["a", "b", "c"].map { name in clock.makeTimer(on: queue) { notes.add(name) } }
        for (timer, seconds) in zip(timers, [3, 1, 2]) { timer.set(for: clock.now + .seconds(seconds)) }
        #expect(clock.timerCount == 3)
        clock.advance(by: .milliseconds(999))
        await clock.settle()
        #expect(notes.all.isEmpty)
        clock.advance(by: .seconds(10))
        await clock.settle()
        #expect(notes.all == ["b", "c", "a"])
        #expect(clock.timerCount == 0)
        clock.advance(by: .seconds(10))
        await clock.settle()
        #expect(notes.all.count == 3)
        // A past time is due at once.
        timers[0].set(for: clock.now - .seconds(1), leeway: .seconds(5))
        await clock.settle()
        #expect(notes.all.last == "a" && notes.all.count == 4)
        withExtendedLifetime(timers) {}
    }

    @Test("While the time runs, each handler sees its own time and may set the next; an advance is one step")
    func repeating() async {
        final class Ticker: Sendable {
            let notes = Notes()
            let timer = Mutex((any CaptureTimer)?.none)
            let clock: ManualClock
            init(_ clock: ManualClock, on queue: DispatchQueue) {
                self.clock = clock
                let timer = clock.makeTimer(on: queue) { [weak self] in self?.tick() }
                timer.set(for: clock.now + .milliseconds(300))
                self.timer.withLock { $0 = timer }
            }
            func tick() {
                notes.add("\(clock.now.nanoseconds / 1_000_000)")
                timer.withLock { $0 }?.set(for: clock.now + .milliseconds(300))
            }
        }
        let clock = ManualClock()
        let ticker = Ticker(clock, on: queue)
        await clock.run(for: .seconds(1))
        #expect(ticker.notes.all == ["1300", "1600", "1900"])
        clock.advance(by: .seconds(1))
        await clock.settle()
        #expect(ticker.notes.all.suffix(1) == ["3000"])
        await clock.run(for: .milliseconds(300))
        #expect(ticker.notes.all.suffix(1) == ["3300"])
    }

    @Test("A timer that was set again, cancelled or released does not fire, although it was due")
    func cancelled() async {
        let (clock, notes) = (ManualClock(), Notes())
        var timers = ["set", "cancelled", "released", "unset"].map { name in
            clock.makeTimer(on: queue) { notes.add(name) }
        }
        queue.sync {
            for timer in timers { timer.set(for: clock.now + .seconds(1)) }
            clock.advance(by: .seconds(1))
            timers[0].set(for: clock.now + .seconds(1))
            timers[1].cancel()
            timers[1].cancel()
            timers[1].set(for: clock.now)
            timers[3].set(for: .distantFuture)
            timers.remove(at: 2)
        }
        await clock.settle()
        #expect(notes.all.isEmpty)
        await clock.run(for: .seconds(5))
        #expect(notes.all == ["set"])
        withExtendedLifetime(timers) {}
    }

    @Test("A clock that moves its time fires the timers before the deadline, and a wake-up ends the move")
    func timersOnTheWay() async {
        let (clock, notes) = (ManualClock(waiting: .movesTime), Notes())
        let wakeUp = DescriptorSignal()
        let start = clock.now
        let noting = clock.makeTimer(on: queue) { notes.add("\((clock.now - start) / .seconds(1))") }
        noting.set(for: start + .seconds(1))
        #expect(await wait(clock, for: .seconds(2), descriptor: wakeUp.descriptor))
        #expect(notes.all == ["1.0"])
        let waking = clock.makeTimer(on: queue) { wakeUp.raise() }
        waking.set(for: start + .seconds(5))
        noting.set(for: start + .seconds(6))
        #expect(await !wait(clock, for: .seconds(10), descriptor: wakeUp.descriptor))
        #expect(clock.now - start == .seconds(5))
        #expect(notes.all == ["1.0"])
        noting.cancel()
    }

    @Test("A test can wait until a timer is set")
    func timerOfQueue() async {
        let clock = ManualClock()
        let timer = clock.makeTimer(on: queue) {}
        async let left = clock.timer(onQueue: "timers")
        DispatchQueue(label: "other").async { timer.set(for: clock.now + .seconds(7)) }
        #expect(await left == .seconds(7))
        timer.cancel()
    }
}
