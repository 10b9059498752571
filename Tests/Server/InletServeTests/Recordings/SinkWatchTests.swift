import InletCapture
import InletCore
import Testing

@testable import InletServe

/// Sinks whose disk or server hangs.
@Suite struct SinkWatchTests {
    private func sink(
        _ name: String, id: Int = 1, delivered: UInt64, queueFull: UInt64 = 0, superseded: UInt64 = 0,
        other: UInt64 = 0
    ) -> CaptureStatistics.Sink {
        var sink = CaptureStatistics.Sink(id: SinkID(number: id), name: name)
        sink.delivered = delivered
        sink.drops = [.queueFull: queueFull, .superseded: superseded, .rateLimited: other, .notConnected: other]
        return sink
    }

    private func time(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

    @Test("A sink that accepts nothing while frames are dropped is reported once, and again when it works")
    func stall() {
        var watch = SinkWatch()
        #expect(watch.update([sink("mp4:a", delivered: 100)], at: time(0)).isEmpty)
        #expect(watch.update([sink("mp4:a", delivered: 150)], at: time(2)).isEmpty)
        for second in 3..<11 {
            let sink = sink("mp4:a", delivered: 150, queueFull: UInt64(second))
            #expect(watch.update([sink], at: time(second)).isEmpty)
        }
        let hung = sink("mp4:a", delivered: 150, queueFull: 200, superseded: 3)
        #expect(watch.update([hung], at: time(11)) == [.init(sink: "mp4:a", dropped: 203)])
        #expect(watch.stalled(of: [hung]) == ["mp4:a"])
        #expect(watch.update([hung], at: time(20)).isEmpty)
        #expect(watch.update([sink("mp4:a", delivered: 151, queueFull: 200)], at: time(22)) == [.init(sink: "mp4:a")])
        #expect(watch.stalled(of: [hung]).isEmpty)
    }

    @Test("A sink without work, a slow one, and one that wants few frames are not stalled")
    func others() {
        var watch = SinkWatch()
        for second in 0..<120 {
            let count = UInt64(second)
            let sinks = [
                sink("idle", id: 1, delivered: 5, other: count),
                sink("slow", id: 2, delivered: count / 5, queueFull: count),
                sink("rare", id: 3, delivered: count / 60, other: count),
            ]
            #expect(watch.update(sinks, at: time(second)).isEmpty)
        }
    }

    @Test("A sink that replaces a stalled one is not stalled, and a detached sink is forgotten")
    func replacement() {
        var watch = SinkWatch()
        _ = watch.update([sink("a", delivered: 1)], at: time(0))
        _ = watch.update([sink("a", delivered: 1, queueFull: 1)], at: time(1))
        #expect(watch.update([sink("a", delivered: 1, queueFull: 9)], at: time(9)).count == 1)
        let other = sink("a", id: 2, delivered: 0)
        #expect(watch.update([other], at: time(10)).isEmpty && watch.stalled(of: [other]).isEmpty)
        #expect(watch.update([], at: time(11)).isEmpty)
    }

    @Test("A view without viewers is not stalled after a single drop, and a new sink may wait for its key frame")
    func waiting() {
        var watch = SinkWatch()
        for second in 0..<31 {
            let count = UInt64(second)
            let view = sink("view", id: 1, delivered: 5, superseded: second > 3 ? 1 : 0, other: count)
            let copy = sink("mp4:a", id: 2, delivered: 0, queueFull: count)
            #expect(watch.update([view, copy], at: time(second)).isEmpty, "\(second)")
        }
        let late = sink("mp4:a", id: 2, delivered: 0, queueFull: 99)
        #expect(watch.update([late], at: time(33)) == [.init(sink: "mp4:a", dropped: 99)])
        watch.reset()
        #expect(watch.stalled(of: [late]).isEmpty)
    }

    @Test("A recording whose disk hangs is reported by its file")
    func recording() {
        var watch = SinkWatch()
        #expect(watch.update(recording: nil) == nil)
        #expect(watch.update(recording: "a.mp4") == .init(sink: "a.mp4", dropped: 0))
        #expect(watch.update(recording: "a.mp4") == nil && watch.stalled(of: []) == ["a.mp4"])
        #expect(watch.update(recording: nil) == .init(sink: "a.mp4"))
    }
}
