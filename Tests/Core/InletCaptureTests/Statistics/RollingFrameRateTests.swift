import InletCore
import Testing

@testable import InletCapture

@Suite struct RollingFrameRateTests {
    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64((seconds * 1e9).rounded()))
    }

    @Test("A steady rate is exact at any moment", arguments: [0.2, 1, 5, 23.976, 30, 60, 1000])
    func steady(rate: Double) throws {
        let meter = RollingFrameRate()
        for frame in 0..<max(Int(rate * 5), 5) {
            meter.frameArrived(at: time(10 + Double(frame) / rate))
            guard frame > 0 else { continue }
            for delay in [0, 0.5, 0.99] {
                let now = time(10 + (Double(frame) + delay) / rate)
                #expect(abs(try #require(meter.rate(at: now)) - rate) < rate * 0.001)
            }
        }
    }

    @Test("There is no rate before the second frame")
    func nothing() {
        let meter = RollingFrameRate()
        #expect(meter.rate(at: time(1)) == nil)
        meter.frameArrived(at: time(1))
        #expect(meter.rate(at: time(2)) == nil)
    }

    @Test("After a change, the new rate shows within the window")
    func change() throws {
        let meter = RollingFrameRate()
        for frame in 0..<100 { meter.frameArrived(at: time(Double(frame) / 30)) }
        for frame in 0..<25 { meter.frameArrived(at: time(4 + Double(frame) / 10)) }
        #expect(abs(try #require(meter.rate(at: time(6.4))) - 10) < 0.1)
    }

    @Test("The rate falls while no frame arrives, and never rises without one")
    func stall() throws {
        let meter = RollingFrameRate()
        for frame in 0..<90 { meter.frameArrived(at: time(Double(frame) / 30)) }
        var last = 31.0
        for tenth in 30..<200 {
            let rate = try #require(meter.rate(at: time(Double(tenth) / 10)))
            #expect(rate <= last + 1e-6)
            last = rate
        }
        #expect(last < 0.1)
    }
}
