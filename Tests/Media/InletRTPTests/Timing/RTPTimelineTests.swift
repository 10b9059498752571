import InletCore
import InletRTP
import Testing

@Suite struct RTPTimelineTests {
    private static let interval: UInt32 = 3600

    /// Places units with the given timestamps, which arrive every 40 ms.
    private static func place(
        _ timestamps: [UInt32], on timeline: inout RTPTimeline, from milliseconds: Int64 = 0
    ) -> [RTPTimeline.Placement] {
        timestamps.enumerated().map { index, timestamp in
            timeline.place(timestamp, arrival: PacketScript.time(milliseconds + Int64(index) * 40))
        }
    }

    private static func steady(_ count: Int, from timestamp: UInt32) -> [UInt32] {
        (0..<count).map { timestamp &+ UInt32($0) &* interval }
    }

    @Test("Timestamps are counted on from 0 over wraps", arguments: [0, 5000, 0xFFFF_0000, 0x7FFF_0000] as [UInt32])
    func steady(_ start: UInt32) {
        var timeline = RTPTimeline(clockRate: 90_000)
        let places = Self.place(Self.steady(100, from: start), on: &timeline)
        #expect(places == (0..<100).map { .init(ticks: $0 * 3600) })
    }

    @Test("Wraps are counted for as long as the stream lasts")
    func manyWraps() {
        var timeline = RTPTimeline(clockRate: 90_000)
        var expected: Int64 = 0
        for step in 0..<400_000 {
            // A picture a second: 400,000 s are eight wraps of 13 hours and 15 minutes.
            let place = timeline.place(
                UInt32(truncatingIfNeeded: step * 90_000), arrival: PacketScript.time(Int64(step) * 1000))
            #expect(place.ticks == expected)
            expected += 90_000
        }
        #expect(timeline.discontinuities == 0)
    }

    @Test("Pictures in the order of decoding step back and forth")
    func reordered() {
        var timeline = RTPTimeline(clockRate: 90_000)
        let order: [Int64] = [0, 4, 2, 1, 3, 8, 6, 5, 7, 12, 10, 9, 11]
        let start = UInt32.max - 20_000
        let places = Self.place(order.map { start &+ UInt32($0) * Self.interval }, on: &timeline)
        #expect(places == order.map { .init(ticks: $0 * 3600) })
    }

    @Test("A picture that is shown before the first has a negative time")
    func beforeFirst() {
        var timeline = RTPTimeline(clockRate: 90_000)
        #expect(Self.place([100, 100 &- 7200], on: &timeline).map(\.ticks) == [0, -7200])
    }

    @Test(
        "A single unit with a timestamp hours off is placed between its neighbours",
        arguments: [900_000_000, 0 &- 900_000_000, 500_000, 0 &- 500_000] as [UInt32])
    func singleUnit(_ error: UInt32) {
        var timeline = RTPTimeline(clockRate: 90_000)
        var timestamps = Self.steady(20, from: 77)
        timestamps[10] &+= error
        let places = Self.place(timestamps, on: &timeline)
        #expect(places[10] == .init(ticks: 9 * 3600 + 1800, isRestamped: true))
        #expect(places[11] == .init(ticks: 11 * 3600))
        #expect(timeline.restamped == 1)
        #expect(timeline.discontinuities == 0)
    }

    @Test("Two wrong units that do not continue each other are two single ones")
    func twoUnits() {
        var timeline = RTPTimeline(clockRate: 90_000)
        var timestamps = Self.steady(20, from: 77)
        timestamps[10] = 1_000_000_000
        timestamps[11] = 3_000_000_000
        let places = Self.place(timestamps, on: &timeline)
        #expect(places[9...12].map(\.ticks) == [32_400, 34_200, 36_000, 43_200])
        #expect(timeline.discontinuities == 0)
    }

    @Test(
        "The third unit of a new timeline is a discontinuity, and the time continues by the arrival",
        arguments: [0, 900_000_000, 0 &- 900_000_000] as [UInt32])
    func newTimeline(_ start: UInt32) {
        var timeline = RTPTimeline(clockRate: 90_000)
        _ = Self.place(Self.steady(1000, from: 1_000_000), on: &timeline)
        let places = Self.place(Self.steady(10, from: start), on: &timeline, from: 40_000)
        #expect(places.map(\.isDiscontinuity) == [false, false, true] + [Bool](repeating: false, count: 7))
        #expect(places.map(\.isRestamped) == [true, true] + [Bool](repeating: false, count: 8))
        let halfPictures: [Int64] = [1999, 2000, 2004, 2006, 2008, 2010, 2012, 2014, 2016, 2018]
        #expect(places.map(\.ticks) == halfPictures.map { $0 * 1800 })
        #expect(timeline.discontinuities == 1)
        #expect(timeline.restamped == 2)
    }

    @Test(
        "A clock that steps back by more than pictures are reordered is another timeline, and no time steps back",
        arguments: [(1.4, 40, false), (2, 40, false), (4.9, 40, false), (1.4, 100, false), (2, 40, true)])
    func stepBack(_ seconds: Double, _ milliseconds: Int64, _ isReordered: Bool) {
        var timeline = RTPTimeline(clockRate: 90_000)
        let order: [Int64] = isReordered ? [0, 4, 2, 1, 3] : [0, 1, 2, 3, 4]
        func place(_ numbers: Range<Int64>, stepBack: Double) -> [RTPTimeline.Placement] {
            numbers.map { number in
                // The first picture, and then groups of four.
                let shown = number == 0 ? 0 : (number - 1) / 4 * 4 + order[Int((number - 1) % 4) + 1]
                let ticks = 1_000_000 + shown * milliseconds * 90 - Int64(stepBack * 90_000)
                return timeline.place(
                    UInt32(truncatingIfNeeded: ticks), arrival: PacketScript.time(number * milliseconds))
            }
        }
        let before = place(0..<401, stepBack: 0)
        let after = place(401..<601, stepBack: seconds)
        #expect(timeline.discontinuities == 1 && after.prefix(4).contains { $0.isDiscontinuity })
        #expect(after.filter(\.isRestamped).count <= 3)
        let newest = before.map(\.ticks).max() ?? 0
        #expect(after.allSatisfy { $0.ticks > newest - 4 * milliseconds * 90 })
        // No time is lost or gained, except for the order of pictures.
        let passed = (after.map(\.ticks).max() ?? 0) - newest
        #expect(abs(passed - 200 * milliseconds * 90) <= 8 * milliseconds * 90, "\(passed)")
        if !isReordered { #expect(zip(after, after.dropFirst()).allSatisfy { $0.ticks < $1.ticks }) }
    }

    @Test("A sender that begins to reorder pictures after a while has no other timeline", arguments: [4, 8, 16])
    func lateReordering(_ depth: Int64) {
        var timeline = RTPTimeline(clockRate: 90_000)
        _ = Self.place(Self.steady(500, from: 0), on: &timeline)
        // The last picture of a group comes first, as for pictures that are predicted from both sides.
        let order = (0..<5).flatMap { group in [depth] + (1..<depth) }.enumerated().map { index, number in
            499 + Int64(index) / depth * depth + number
        }
        let places = Self.place(order.map { UInt32($0) * Self.interval }, on: &timeline, from: 20_000)
        #expect(places == order.map { .init(ticks: $0 * 3600) })
    }

    @Test("An announced break is a discontinuity at once, as long as it took")
    func breakOff() {
        var timeline = RTPTimeline(clockRate: 90_000)
        timeline.breakOff()
        #expect(Self.place([500, 4100], on: &timeline) == [.init(ticks: 0), .init(ticks: 3600)])
        timeline.breakOff()
        let places = Self.place([5, 3605], on: &timeline, from: 10_040)
        #expect(places == [.init(ticks: 3600 + 900_000, isDiscontinuity: true), .init(ticks: 907_200)])
    }

    @Test("A stall of the network keeps the distances", arguments: [1000, 20_000] as [Int64])
    func stall(_ length: Int64) {
        var timeline = RTPTimeline(clockRate: 90_000)
        _ = Self.place(Self.steady(10, from: 0), on: &timeline)
        let count = Int(length / 40)
        for (index, timestamp) in Self.steady(count, from: 36_000).enumerated() {
            let place = timeline.place(timestamp, arrival: PacketScript.time(400 + length))
            #expect(place == .init(ticks: Int64(36_000 + index * 3600)))
        }
    }

    @Test("A gap of the pictures that the sender's clock states is no discontinuity")
    func gap() {
        var timeline = RTPTimeline(clockRate: 90_000)
        _ = Self.place(Self.steady(10, from: 0), on: &timeline)
        let place = timeline.place(36_000 + 60 * 90_000, arrival: PacketScript.time(60_400))
        #expect(place == .init(ticks: 36_000 + 60 * 90_000))
    }

    @Test("Two units with one timestamp are a tick apart")
    func twins() {
        var timeline = RTPTimeline(clockRate: 90_000)
        let places = Self.place([0, 3600, 3600, 7200, 7200, 10_800], on: &timeline)
        #expect(places.map(\.ticks) == [0, 3600, 3601, 7200, 7201, 10_800])
        #expect(timeline.restamped == 0)
    }

    @Test("If the sender's clock stops, units are placed by their arrival, and by the clock once it continues")
    func standstill() {
        var timeline = RTPTimeline(clockRate: 90_000)
        let places = Self.place([0] + [UInt32](repeating: 3600, count: 250), on: &timeline)
        #expect(places.prefix(5).map(\.ticks) == [0, 3600, 3601, 7201, 10_801])
        #expect(places.last.map { (890_000...901_000).contains($0.ticks) } == true)
        let after = Self.place(Self.steady(3, from: 251 * 3600), on: &timeline, from: 251 * 40)
        #expect(after.map(\.ticks) == [251, 252, 253].map { Int64($0) * 3600 })
    }

    @Test("A clock that is 3000 ppm off is followed for a day", arguments: [0.997, 1.003])
    func drift(_ rate: Double) {
        var timeline = RTPTimeline(clockRate: 90_000)
        for second in 0..<86_400 {
            let ticks = Int64(Double(second) * 90_000 * rate)
            let place = timeline.place(
                UInt32(truncatingIfNeeded: ticks), arrival: PacketScript.time(Int64(second) * 1000))
            #expect(place.ticks == ticks)
        }
        #expect(timeline.restamped == 0)
    }

    @Test("Timestamps without any order are placed one after another, by their arrival", arguments: 0..<4)
    func mutated(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var timeline = RTPTimeline(clockRate: 90_000)
        var last: Int64 = -1
        for step in 0..<5000 {
            let timestamp = UInt32(truncatingIfNeeded: random.next())
            let place = timeline.place(timestamp, arrival: PacketScript.time(Int64(step) * 40))
            #expect(abs(place.ticks - last) <= 10 * 90_000)
            #expect(place.ticks != last)
            last = place.ticks
        }
        #expect(last > 4999 * 3600 - 5 * 90_000)
        #expect(timeline.restamped > 4000)
    }

    @Test("Seconds of pictures that arrive at once, as from a server's buffer, keep their distances")
    func burst() {
        var timeline = RTPTimeline(clockRate: 90_000)
        for (index, timestamp) in Self.steady(500, from: 0xFFFF_FF00).enumerated() {
            #expect(timeline.place(timestamp, arrival: PacketScript.time(0)) == .init(ticks: Int64(index * 3600)))
        }
    }

    @Test("A slow clock's accumulated lag is no reason to accept a jump ahead")
    func jumpOfSlowClock() {
        var timeline = RTPTimeline(clockRate: 90_000)
        for second in 0..<3600 {
            _ = timeline.place(UInt32(second * 89_730), arrival: PacketScript.time(Int64(second) * 1000))
        }
        let place = timeline.place(UInt32(3600 * 89_730 + 9 * 90_000), arrival: PacketScript.time(3_600_000))
        #expect(place.isRestamped)
    }
}
