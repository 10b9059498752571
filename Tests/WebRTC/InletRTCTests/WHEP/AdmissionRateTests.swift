import InletCore
import Testing

@testable import InletRTC

@Suite struct AdmissionRateTests {
    @Test("A few are admitted at once, then one each half second")
    func rate() {
        var rate = AdmissionRate(perSecond: 2, burst: 3)
        var times: [Int64] = []
        for milliseconds in stride(from: Int64(0), through: 2000, by: 100) {
            let now = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
            while rate.wait(at: now) == nil {
                rate.admit()
                times.append(milliseconds)
            }
        }
        #expect(times == [0, 0, 0, 500, 1000, 1500, 2000])
        #expect(rate.wait(at: MonotonicTime(nanoseconds: 2_100_000_000)) == .milliseconds(400))
    }
}
