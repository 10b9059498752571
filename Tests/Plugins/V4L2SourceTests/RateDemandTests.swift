import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct RateDemandTests {
    private static let webcam = V4L2FrameRates.discrete([30, 25, 15, 10, 5].map { Rational($0) })

    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test(
        "The lowest rate that misses no frame is chosen",
        arguments: [
            (nil, 30), (Rational(60), 30), (Rational(30), 30), (Rational(26), 30), (Rational(16), 25),
            (Rational(15), 15),
            (Rational(10010, 1000), 10), (Rational(11), 15), (Rational(1), 5), (Rational(1, 10), 5),
        ])
    func chosen(wanted: Rational?, rate: Int) {
        let demand = RateDemand(rates: Self.webcam, highest: Rational(30))
        #expect(demand.rate(for: SourceDemand(maximumFrameRate: wanted)) == Rational(rate))
    }

    @Test(
        "A camera with any rate gets the wanted one, within its limits, and one that states none keeps its own"
    )
    func ranges() {
        let any = RateDemand(rates: .range(Rational(2), Rational(60)), highest: Rational(50))
        #expect(any.rate(for: SourceDemand(maximumFrameRate: Rational(7))) == Rational(7))
        #expect(any.rate(for: SourceDemand(maximumFrameRate: Rational(1))) == Rational(2))
        #expect(any.rate(for: SourceDemand(maximumFrameRate: Rational(55))) == Rational(50))
        let slow = RateDemand(rates: .range(Rational(1, 100), Rational(60)), highest: Rational(60))
        #expect(slow.rate(for: SourceDemand(maximumFrameRate: Rational(1, 10))) == Rational(1))
        let none = RateDemand(rates: .discrete([]), highest: Rational(30))
        #expect(none.rate(for: SourceDemand(maximumFrameRate: Rational(7))) == Rational(30))
    }

    @Test("A lower demand is met after two continuous seconds, a higher one at once")
    func patience() {
        var demand = RateDemand(rates: Self.webcam, highest: Rational(30))
        let (slow, all) = (SourceDemand(maximumFrameRate: Rational(5)), SourceDemand.everything)
        #expect(demand.follow(all, at: Self.at(0)) == nil)
        #expect(demand.follow(slow, at: Self.at(100)) == nil)
        #expect(demand.follow(slow, at: Self.at(2000)) == nil)
        // Another viewer came and left in between: the wait restarts.
        #expect(demand.follow(all, at: Self.at(2050)) == nil)
        #expect(demand.follow(slow, at: Self.at(2100)) == nil)
        #expect(demand.follow(slow, at: Self.at(4099)) == nil)
        #expect(demand.follow(slow, at: Self.at(4100)) == Rational(5))
        #expect(demand.follow(slow, at: Self.at(4200)) == nil)
        #expect(demand.follow(all, at: Self.at(4300)) == Rational(30))
        #expect(demand.current == Rational(30))
    }

    @Test("The demand at the opening is met at once")
    func begin() {
        var demand = RateDemand(rates: Self.webcam, highest: Rational(30))
        #expect(demand.begin(SourceDemand(maximumFrameRate: Rational(12))) == Rational(15))
        #expect(demand.follow(SourceDemand(maximumFrameRate: Rational(12)), at: Self.at(9000)) == nil)
        #expect(demand.follow(.everything, at: Self.at(9001)) == Rational(30))
    }
}
