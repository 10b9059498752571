public import Dispatch
public import InletCore
import Synchronization

/// A clock whose time moves only when a test moves it, so that tests of time neither wait nor depend on the machine's
/// load.
///
/// Its timers call their handlers on their queues in the order of their times. ``settle()`` waits until they have
/// returned, so that a test needs no pause to see what they did:
///
///     let clock = ManualClock()
///     let capturer = Capturer(source, clock: clock)
///     async let reason = capturer.run()
///     await clock.waiters()  // The source waits for its device.
///     await clock.run(for: .seconds(1))
///     #expect(capturer.state == .stalled)
///
/// Safe from any thread. Time starts at one second, so that times before the start can be written, too.
public final class ManualClock: CaptureClock {
    /// How a wait behaves.
    public enum Waiting: Sendable {
        /// It blocks until ``ManualClock/advance(by:)`` or ``ManualClock/run(for:)`` has brought the clock to its
        /// deadline. The default.
        case blocks
        /// It moves the clock to its deadline and returns. For code that paces itself on one thread. Timers that are
        /// due before the deadline call their handlers, each of which returns before the time moves on. Such a wait
        /// must not run on the queue of a timer.
        case movesTime
    }

    struct State {
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var sleepers: [Sleeper] = []
        var observers: [Observer] = []
        var timers: [Int: Setting] = [:]
        /// The number of timers made.
        var timerCount = 0
        /// The number of times that timers were set.
        var settingCount = 0
        /// The number of handlers that were called and have not returned.
        var handlerCount = 0

        /// Removes the satisfied observers, to be resumed outside of the lock.
        mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
            guard !observers.isEmpty else { return [] }
            let state = self
            let satisfied = observers.filter { $0.isSatisfied(state) }
            observers = observers.filter { !$0.isSatisfied(state) }
            return satisfied.map(\.continuation)
        }
    }

    /// One blocked wait.
    struct Sleeper {
        let deadline: MonotonicTime
        let signal: DescriptorSignal
    }

    /// A suspended caller that waits for a state.
    struct Observer {
        let isSatisfied: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    let state = Mutex(State())
    private let waiting: Waiting

    public init(waiting: Waiting = .blocks) { self.waiting = waiting }

    /// The time that the test has set.
    public var now: MonotonicTime { state.withLock { $0.now } }

    /// Moves the time forward at once, releases those whose deadline it reaches, and makes the timers that are due call
    /// their handlers, which see the new time. Does not wait for any of them.
    ///
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a clock does not go back")
        change { $0.now = $0.now + duration }
    }

    /// Moves the time forward in steps: to each deadline and each timer in between, whose handlers return before the
    /// time moves on. Threads whose wait has ended are released, but not waited for.
    ///
    /// - Precondition: `duration` is not negative.
    public func run(for duration: Duration) async {
        precondition(duration >= .zero, "a clock does not go back")
        let end = now + duration
        repeat { await settle() } while !step(to: end)
        await settle()
    }

    /// Releases every blocked wait before its deadline, as a wake-up descriptor would.
    public func wakeAll() {
        for sleeper in state.withLock({ $0.sleepers }) { sleeper.signal.raise() }
    }

    /// The number of threads that are blocked in ``wait(until:wakeUpDescriptor:)``.
    public var waiterCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until at least `count` threads are blocked in ``wait(until:wakeUpDescriptor:)``.
    public func waiters(atLeast count: Int = 1) async { await suspend { $0.sleepers.count >= count } }

    /// Waits for the test to move the time, or moves it, depending on the mode.
    public func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        if waiting == .movesTime {
            repeat {
                settleBlocking()
                if DescriptorSignal.isReadable(wakeUpDescriptor) { return false }
            } while !step(to: deadline)
            settleBlocking()
            return true
        }
        let signal = DescriptorSignal()
        let isOver = change { state in
            if state.now >= deadline { return true }
            state.sleepers.append(Sleeper(deadline: deadline, signal: signal))
            return false
        }
        if isOver { return true }
        signal.wait(or: wakeUpDescriptor)
        return state.withLock { state in
            state.sleepers.removeAll { $0.signal === signal }
            return state.now >= deadline
        }
    }

    /// Makes a timer whose handler is called when the test has moved the time.
    public func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        let number = state.withLock { state in
            state.timerCount += 1
            state.timers[state.timerCount] = Setting(queue: queue, handler: handler)
            return state.timerCount
        }
        return ManualTimer(number, of: self)
    }

    // MARK: Changes

    /// Changes the state, and handles the consequences: calls the handlers of timers that are due, and releases those
    /// whose condition is met.
    @discardableResult
    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, woken, resumed) = state.withLock { state in
            let value = body(&state)
            callHandlers(&state)
            return (value, state.sleepers.filter { $0.deadline <= state.now }.map(\.signal), state.takeSatisfied())
        }
        for signal in woken { signal.raise() }
        for continuation in resumed { continuation.resume() }
        return value
    }

    /// Suspends until the state meets the caller's condition.
    func suspend(until isSatisfied: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            change { $0.observers.append(Observer(isSatisfied: isSatisfied, continuation: continuation)) }
        }
    }

    /// Moves the time to the next deadline or timer, but not beyond `end`.
    ///
    /// - Returns: whether it has reached the end.
    private func step(to end: MonotonicTime) -> Bool {
        change { state in
            let deadlines = state.sleepers.map(\.deadline) + state.timers.values.compactMap(\.time)
            // A released wait is in the list until its thread runs.
            guard let next = deadlines.filter({ $0 > state.now && $0 < end }).min() else {
                state.now = max(state.now, end)
                return true
            }
            state.now = next
            return false
        }
    }
}
