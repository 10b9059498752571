import InletCore
import Testing

@testable import InletServe

struct CameraHistoryTests {
    private func reading(_ seconds: Int64, _ captured: UInt64, _ dropped: UInt64 = 0) -> CameraHistory.Reading {
        .init(
            time: MonotonicTime(nanoseconds: seconds * 1_000_000_000), wallTime: 5 + seconds * 1_000_000_000,
            captured: captured, dropped: dropped, phase: captured == 0 ? .opening : .live)
    }

    @Test("A stretch has the counts of its time; a capture that restarts from zero gives no gap and no jump")
    func differences() {
        var history = CameraHistory(from: reading(0, 0))
        history.close(at: reading(10, 200, 1))
        history.close(at: reading(20, 40, 3))
        let samples = history.samples(until: reading(24, 120, 0))
        #expect(samples.map(\.frames) == [200, 40, 80])
        #expect(samples.map(\.dropped) == [1, 2, 0])
        #expect(samples.map(\.length) == [.seconds(10), .seconds(10), .seconds(4)])
        #expect(samples.map(\.begin) == [5, 10_000_000_005, 20_000_000_005])
    }

    @Test("A stretch of some milliseconds, too short for a rate, is reported only if it is the only one")
    func short() {
        var history = CameraHistory(from: reading(0, 0))
        var soon = reading(0, 1)
        soon.time = soon.time + .milliseconds(4)
        #expect(history.samples(until: soon).map(\.length) == [.milliseconds(4)])
        history.close(at: reading(10, 200))
        soon = reading(10, 201)
        soon.time = soon.time + .milliseconds(999)
        #expect(history.samples(until: soon).map(\.frames) == [200])
        #expect(history.samples(until: reading(11, 220)).map(\.frames) == [200, 20])
    }

    @Test("However long a camera runs, an hour is kept, and the oldest entry is removed first")
    func bound() {
        var history = CameraHistory(from: reading(0, 0))
        for step in 1...1000 { history.close(at: reading(Int64(step) * 10, UInt64(step))) }
        let samples = history.samples(until: reading(10_001, 1001))
        #expect(samples.count == 360)
        #expect(samples.first?.begin == 5 + 641 * 10_000_000_000 && samples.last?.length == .seconds(1))
        #expect(samples.allSatisfy { $0.frames == 1 })
    }
}
