import InletCore
import Testing

@testable import InletCapture

/// The clock against cameras whose true capture times are known. Each run prints its residuals as p50/p99/max in
/// microseconds.
@Suite struct FrameClockSimulationTests {
    /// The permitted residual error, in microseconds. A tick of the camera's PTS is 11 us.
    private func bounds(_ jitter: Jitter) -> (p50: Double, p99: Double, max: Double) {
        switch jitter {
        case .none: (12, 12, 15)
        case .bell, .heavyTail, .bursts: (12, 50, 120)
        // A second's earliest frame is known only to a part of the distribution.
        case .wholeBell: (2000, 7000, 10_000)
        }
    }

    private func run(_ camera: SimulatedCamera, seconds: Double) -> Residuals {
        var clock = FrameClock(pacing: .live)
        return camera.run(seconds: seconds) {
            clock.stamp(pts: $0.pts, arrival: $0.arrival, startsAnew: false).time
        }
    }

    @Test(
        "An hour (a quarter for light jitters): drift is followed, jitter removed, and nothing lies in the future",
        arguments: [0, 50, -50, 3000, -3000], Jitter.allCases)
    func hour(ppm: Double, jitter: Jitter) {
        let residuals = run(SimulatedCamera(ppm: ppm, jitter: jitter), seconds: jitter == .heavyTail ? 3600 : 900)
        print("frame clock, \(Int(ppm)) ppm, jitter \(jitter): \(residuals)")
        let bounds = bounds(jitter)
        #expect(residuals.error.isWithin(bounds))
        #expect(abs(residuals.growth) <= bounds.p99)
        #expect(residuals.spacing.isWithin((12, 30, bounds.max)))
        #expect(residuals.inTheFuture == 0 && residuals.notIncreasing == 0)
        // The remaining delay is the minimum. A whole normal distribution reaches below its median.
        let delay = SimulatedCamera.leastDelay * 1e6
        #expect(jitter == .wholeBell ? residuals.delay < delay : abs(residuals.delay - delay) < 50)
    }

    @Test("The same bounds are exceeded by an anchor without a filter", arguments: [50, -50, 3000, -3000])
    func naive(ppm: Double) {
        var anchor = NaiveAnchor()
        let residuals = SimulatedCamera(ppm: ppm, jitter: .heavyTail).run(seconds: 3600) { anchor.stamp($0) }
        print("naive anchor, \(Int(ppm)) ppm, jitter heavyTail: \(residuals)")
        // A fast camera drags the anchor along, in jerks and without a delay; behind a slow one it lags further and
        // further.
        #expect(!residuals.error.isWithin(bounds(.heavyTail)))
    }

    @Test(
        "Two days of a camera whose rate varies with temperature: the delay does not grow", arguments: [-40, 2900])
    func days(ppm: Double) {
        let camera = SimulatedCamera(ppm: ppm, jitter: .heavyTail, framesPerSecond: 1, dailySwing: 20)
        let residuals = run(camera, seconds: 2 * 86_400)
        print("frame clock, two days, \(Int(ppm)) ppm swinging by 20, jitter heavyTail: \(residuals)")
        #expect(residuals.error.isWithin((60, 500, 2000)))
        #expect(abs(residuals.growth) < 100)
        #expect(residuals.inTheFuture == 0 && residuals.notIncreasing == 0)
    }

    @Test(
        "A minute after the start, the clock has its full accuracy; before, it is within 15 ms of the least delay",
        arguments: [-3000, 3000])
    func warmUp(ppm: Double) {
        var clock = FrameClock(pacing: .live)
        var (worst, late) = (0.0, 0.0)
        _ = SimulatedCamera(ppm: ppm, jitter: .bell).run(seconds: 60) { frame in
            let stamp = clock.stamp(pts: frame.pts, arrival: frame.arrival, startsAnew: false).time
            let truth = frame.seconds + SimulatedCamera.leastDelay
            let error = abs(Double(stamp.nanoseconds - SimulatedCamera.start) / 1e9 - truth)
            worst = max(worst, error)
            if frame.seconds > 30 { late = max(late, error) }
            return stamp
        }
        print(
            "frame clock, first minute, \(Int(ppm)) ppm, jitter bell: \(worst * 1e6) us, from 30 s on \(late * 1e6) us")
        #expect(worst < 0.015)
        #expect(late < 0.001)
    }

    @Test("Other frame rates", arguments: [0.2, 1, 5, 60, 240])
    func rates(framesPerSecond: Double) {
        let camera = SimulatedCamera(ppm: -3000, jitter: .heavyTail, framesPerSecond: framesPerSecond)
        let residuals = run(camera, seconds: framesPerSecond < 1 ? 36_000 : 300)
        print("frame clock, \(framesPerSecond) fps, -3000 ppm, jitter heavyTail: \(residuals)")
        #expect(residuals.error.isWithin(framesPerSecond < 5 ? (300, 3000, 20_000) : (30, 200, 400)))
        #expect(residuals.inTheFuture == 0 && residuals.notIncreasing == 0)
    }
}
