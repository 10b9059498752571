import Dispatch
import InletCore
import InletTesting
import Logging
import Synchronization
import Testing

/// A clock that advances only while a test waits on it.
private final class SteppingClock: CaptureClock {
    private let nanoseconds = Mutex(Int64(0))
    private let step: Duration
    let waits = Mutex([MonotonicTime]())
    let onWait: @Sendable () -> Void

    init(step: Duration, onWait: @escaping @Sendable () -> Void = {}) {
        self.step = step
        self.onWait = onWait
    }

    var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds.withLock { $0 }) }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        waits.withLock { $0.append(deadline) }
        onWait()
        let woken = now + step < deadline
        let time = min(now + step, deadline)
        nanoseconds.withLock { $0 = time.nanoseconds }
        return !woken
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        ManualClock().makeTimer(on: queue, handler: handler)
    }
}

@Suite struct SourceContextTests {
    private func context(_ clock: SteppingClock) -> SourceContext {
        SourceContext(clock: clock, logger: Logger(label: "test"))
    }

    @Test("Sleeping continues after an early wake-up until its time")
    func sleeps() throws {
        let clock = SteppingClock(step: .milliseconds(4))
        try context(clock).sleep(until: MonotonicTime(nanoseconds: 10_000_000))
        #expect(clock.now.nanoseconds == 10_000_000)
        #expect(clock.waits.withLock { $0.count } == 3)
    }

    @Test("Sleeping until a past time does not wait")
    func sleepsNot() throws {
        let clock = SteppingClock(step: .seconds(1))
        try context(clock).sleep(until: MonotonicTime(nanoseconds: -1))
        #expect(clock.waits.withLock { $0.isEmpty })
    }

    @Test("A cancellation ends a sleep")
    func cancelled() throws {
        let holder = Mutex(SourceContext?.none)
        let clock = SteppingClock(step: .milliseconds(1)) { holder.withLock { $0?.cancel() } }
        let context = context(clock)
        holder.withLock { $0 = context }
        defer { holder.withLock { $0 = nil } }
        let error = #expect(throws: InletError.self) { try context.sleep(until: .distantFuture) }
        #expect(error?.code == .cancelled)
        #expect(context.isCancelled)
        #expect(context.shouldGiveUp)
        #expect(clock.waits.withLock { $0.count } == 1)
    }

    @Test("A deadline ends a sleep, and no wait exceeds it")
    func deadline() throws {
        let clock = SteppingClock(step: .seconds(100))
        let context = context(clock)
        #expect(context.deadline == .distantFuture)
        context.setDeadline(after: .milliseconds(5))
        #expect(!context.shouldGiveUp)
        let error = #expect(throws: InletError.self) { try context.sleep(until: .distantFuture) }
        #expect(error?.code == .timedOut)
        #expect(clock.waits.withLock { $0 } == [MonotonicTime(nanoseconds: 5_000_000)])
        #expect(context.shouldGiveUp)
    }

    @Test("A deliberate sleep extends the deadline by its length, and an open-ended one does not")
    func plannedSleep() throws {
        let clock = SteppingClock(step: .seconds(100))
        let context = context(clock)
        context.setDeadline(after: .milliseconds(5))
        let planned = SourceContext.longestPlannedSleep
        #expect(throws: InletError.self) { try context.sleep(until: clock.now + planned + .nanoseconds(1)) }
        context.setDeadline(after: .milliseconds(5))
        let before = (now: clock.now, deadline: context.deadline)
        try context.sleep(until: before.now + planned)
        #expect(context.deadline == before.deadline + planned)
    }

    @Test("An interruption suspends the deadline, its end restarts the whole time, and the bridge is notified of both")
    func interruption() {
        let clock = SteppingClock(step: .seconds(100))
        let heard = Mutex<[String?]>([])
        let context = SourceContext(clock: clock, logger: Logger(label: "test")) { reason in
            heard.withLock { $0.append(reason) }
        }
        context.setDeadline(after: .seconds(3))
        #expect(context.interruption == nil)
        context.beginInterruption("another program has the camera")
        #expect(context.interruption == "another program has the camera")
        #expect(context.deadline == .distantFuture)
        context.endInterruption()
        context.endInterruption()
        #expect(context.interruption == nil)
        #expect(context.deadline == clock.now + .seconds(3))
        #expect(heard.withLock { $0 } == ["another program has the camera", nil])
    }

    @Test("An interruption that begins while opening continues without a deadline in the wait for a frame")
    func interruptionAtOpening() {
        let clock = SteppingClock(step: .seconds(100))
        let context = context(clock)
        context.setDeadline(after: .seconds(3))
        context.beginInterruption("the shutter is closed")
        context.clearDeadline()
        context.setFrameDeadline(silence: .seconds(3), total: .seconds(3), followsDemand: false)
        #expect(context.deadline == .distantFuture)
        context.endInterruption()
        #expect(context.deadline == clock.now + .seconds(3))
        // The source has no longer to close than without the interruption.
        context.beginInterruption("the shutter is closed")
        context.setDeadline(after: .seconds(2))
        #expect(context.deadline == clock.now + .seconds(2))
    }

    @Test("A demand has a new version only when it differs")
    func demand() {
        let context = context(SteppingClock(step: .zero))
        #expect(context.demand == .everything)
        let version = context.demandVersion
        context.setDemand(.everything)
        #expect(context.demandVersion == version)
        context.setDemand(SourceDemand(maximumFrameRate: Rational(5)))
        #expect(context.demandVersion != version)
        #expect(context.demand.maximumFrameRate == Rational(5))
    }

    @Test("Losses add up by reason; an empty loss is not recorded")
    func drops() {
        let context = context(SteppingClock(step: .zero))
        context.countDrop(.damaged)
        context.countDrop(.damaged, 4)
        context.countDrop(.undecodable, 0)
        context.countDrop(DropReason("solarFlare"), 2)
        #expect(context.dropCounts == [.damaged: 5, DropReason("solarFlare"): 2])
    }

    @Test("A source gets a key-frame request once a second at most, and not if one has just arrived")
    func keyFrameRequests() {
        let clock = ManualClock()
        let context = SourceContext(clock: clock, logger: Logger(label: "test"))
        #expect(context.keyFrameRequests == 0)
        for _ in 0..<100 { context.requestKeyFrame() }
        #expect(context.keyFrameRequests == 1)
        clock.advance(by: .milliseconds(900))
        context.requestKeyFrame()
        #expect(context.keyFrameRequests == 1)
        clock.advance(by: .milliseconds(100))
        // The request is not lost, and counts once.
        #expect((0..<3).map { _ in context.keyFrameRequests } == [2, 2, 2])
        context.requestKeyFrame()
        context.noteKeyFrame()
        clock.advance(by: .seconds(10))
        #expect(context.keyFrameRequests == 2)
        context.requestKeyFrame()
        #expect(context.keyFrameRequests == 3)
    }
}
