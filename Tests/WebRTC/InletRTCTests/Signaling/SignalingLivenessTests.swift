import InletCore
import Testing

@testable import InletRTC

/// Pings to the other end, and the detection of its end.
@Suite struct SignalingLivenessTests {
    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test("Silence causes a ping at each interval, and the end at the limit; any message resets the time")
    func table() {
        var liveness = SignalingLiveness(interval: .seconds(10), limit: .seconds(25), at: Self.at(0))
        for (time, heard, verdict) in [
            (5, false, .wait), (10, false, .ping), (10.5, false, .wait), (19.9, false, .wait), (20, false, .ping),
            (24.9, true, .wait), (30, false, .wait), (34.9, false, .ping), (45, false, .ping), (49.8, false, .wait),
            (49.9, false, .gone),
        ] as [(Double, Bool, SignalingLiveness.Verdict)] {
            if heard { liveness.heard(at: Self.at(time)) }
            #expect(liveness.check(at: Self.at(time)) == verdict, "at \(time)")
            if verdict != .gone { #expect(liveness.deadline > Self.at(time)) }
        }
    }
}
