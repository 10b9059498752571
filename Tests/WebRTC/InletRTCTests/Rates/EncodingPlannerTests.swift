import InletCore
import InletRTC
import Testing

@Suite struct EncodingPlannerTests {
    private var planner = EncodingPlanner(
        ladder: PictureLadder(size: ImageSize(width: 1280, height: 720), frameRate: Rational(30), tiers: 3),
        maximum: 2_500_000)

    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }
    private func id(_ tier: Int, _ codec: VideoCodec = .h264) -> EncodingID { EncodingID(codec: codec, tier: tier) }

    @Test("Without viewers nothing is encoded")
    mutating func nobody() {
        planner.plan(at: time(0))
        #expect(planner.orders.isEmpty)
        planner.add("a", codec: .h264, bitrate: 2_000_000)
        planner.plan(at: time(1))
        planner.remove("a")
        planner.plan(at: time(2))
        #expect(planner.orders.isEmpty)
    }

    @Test("Each viewer gets the best tier that its path carries, and only the tier's slowest viewer sets its rate")
    mutating func tiers() {
        for (name, bitrate) in [("a", 2_400_000), ("b", 1_500_000), ("c", 400_000), ("d", 300_000), ("e", 70_000)] {
            planner.add(name, codec: .h264, bitrate: bitrate)
        }
        planner.plan(at: time(0))
        #expect(["a", "b", "c", "d", "e"].map { planner.encoding(of: $0)?.tier } == [0, 0, 1, 1, 2])
        #expect(planner.orders.mapValues(\.bitrate) == [id(0): 1_500_000, id(1): 300_000, id(2): 70_000])
    }

    @Test("A viewer that decodes and can receive the source's own packets gets them; any other gets an encoding")
    mutating func source() {
        planner.source = (H264Profile(number: 66, constraints: 0xe0), 1_000_000)
        planner.add("a", codec: .h264, bitrate: 2_000_000, profile: "42e01f")
        planner.add("b", codec: .h264, bitrate: 2_000_000)
        planner.add("c", codec: .vp8, bitrate: 2_000_000, profile: "42e01f")
        planner.add("d", codec: .h264, bitrate: 900_000, profile: "42e01f")
        planner.plan(at: time(0))
        #expect(["a", "b", "c", "d"].map { planner.encoding(of: $0)?.isSource } == [true, false, false, false])
        // The viewer leaves the stream at once if its path has a lower rate, or if the packets can no longer be
        // forwarded.
        planner.set(bitrate: 900_000, of: "a")
        planner.plan(at: time(1))
        #expect(planner.encoding(of: "a")?.isSource == false)
        planner.set(bitrate: 2_000_000, of: "a")
        planner.plan(at: time(1.1))
        #expect(planner.encoding(of: "a")?.isSource == false)
        planner.plan(at: time(30))
        #expect(planner.encoding(of: "a")?.isSource == true)
        planner.source = nil
        planner.plan(at: time(31))
        #expect(planner.encoding(of: "a")?.isSource == false)
        #expect(planner.orders.keys.allSatisfy { !$0.isSource })
    }

    @Test("A source that returns with another profile goes to no viewer that agreed on a lesser one")
    mutating func profiles() {
        planner.source = (H264Profile(number: 66, constraints: 0xe0), 1_000_000)
        planner.add("a", codec: .h264, bitrate: 2_000_000, profile: "42E01F")
        planner.add("b", codec: .h264, bitrate: 2_000_000, profile: "640028")
        planner.plan(at: time(0))
        #expect(["a", "b"].map { planner.encoding(of: $0)?.isSource } == [true, true])
        planner.source = (H264Profile(number: 100, constraints: 0), 1_000_000)
        planner.plan(at: time(1))
        #expect(["a", "b"].map { planner.encoding(of: $0)?.isSource } == [false, true])
    }

    @Test("Each codec has its own encodings")
    mutating func codecs() {
        planner.add("a", codec: .h264, bitrate: 2_000_000)
        planner.add("b", codec: .vp8, bitrate: 1_000_000)
        planner.plan(at: time(0))
        #expect(planner.orders.mapValues(\.bitrate) == [id(0): 2_000_000, id(0, .vp8): 1_000_000])
    }

    @Test("No encoding exceeds the maximum rate, and a small one not the ceiling of its size")
    mutating func ceilings() {
        planner.add("a", codec: .h264, bitrate: 9_000_000)
        planner.add("b", codec: .h264, bitrate: 400_000)
        planner.plan(at: time(0))
        planner.set(bitrate: 9_000_000, of: "b")
        planner.plan(at: time(1))
        #expect(planner.orders[id(0)]?.bitrate == 2_500_000)
        #expect(planner.orders[id(1)]?.bitrate == planner.ladder.ceiling(of: 1))
    }

    @Test("A viewer goes down at once, goes up after a wait, and waits longer after each premature rise")
    mutating func patience() {
        planner.add("a", codec: .h264, bitrate: 2_000_000)
        planner.plan(at: time(0))
        var waits: [Double] = []
        var now = 1.0
        for _ in 0..<7 {
            planner.set(bitrate: 300_000, of: "a")
            planner.plan(at: time(now))
            #expect(planner.encoding(of: "a") == id(1))
            planner.set(bitrate: 2_000_000, of: "a")
            let fell = now
            while planner.encoding(of: "a") == id(1) {
                now += 0.5
                planner.plan(at: time(now))
            }
            waits.append(now - fell)
            now += 1
        }
        #expect(waits == [3, 6, 12, 24, 48, 60, 60])
        // A stable rate resets the wait.
        planner.plan(at: time(now + 20))
        planner.set(bitrate: 300_000, of: "a")
        planner.plan(at: time(now + 21))
        planner.set(bitrate: 2_000_000, of: "a")
        planner.plan(at: time(now + 24))
        #expect(planner.encoding(of: "a") == id(0))
    }

    @Test("A rate between two tiers does not alternate between them")
    mutating func hysteresis() {
        let edge = planner.ladder.floor(of: 1)
        planner.add("a", codec: .h264, bitrate: edge - 1)
        planner.plan(at: time(0))
        var tiers: Set<Int?> = []
        for second in 0..<100 {
            planner.set(bitrate: second % 2 == 0 ? edge + edge / 10 : edge - edge / 10, of: "a")
            planner.plan(at: time(Double(second)))
            tiers.insert(planner.encoding(of: "a")?.tier)
        }
        #expect(tiers == [1])
    }

    @Test("Within a tier pictures become smaller at once, and larger after a while")
    mutating func steps() {
        planner.ladder = PictureLadder(size: ImageSize(width: 1280, height: 720), frameRate: Rational(30), tiers: 1)
        planner.add("a", codec: .h264, bitrate: 2_000_000)
        planner.plan(at: time(0))
        planner.set(bitrate: 400_000, of: "a")
        planner.plan(at: time(1))
        #expect(planner.orders[id(0)] == EncodingPlanner.Order(bitrate: 400_000, step: 2))
        planner.set(bitrate: 2_000_000, of: "a")
        planner.plan(at: time(2))
        #expect(planner.orders[id(0)] == EncodingPlanner.Order(bitrate: 2_000_000, step: 2))
        planner.plan(at: time(4))
        #expect(planner.orders[id(0)]?.step == 0)
    }

    @Test("While a queue drains the rate is low, and the tier is the one for the path's capacity")
    mutating func draining() {
        planner.add("a", codec: .h264, bitrate: 2_000_000)
        planner.plan(at: time(0))
        planner.set(bitrate: 100_000, sustained: 700_000, of: "a")
        planner.plan(at: time(1))
        #expect(planner.orders == [id(0): EncodingPlanner.Order(bitrate: 100_000, step: 1)])
    }

    @Test("An encoding that its viewers leave continues unchanged")
    mutating func leaving() {
        planner.add("a", codec: .h264, bitrate: 2_000_000)
        planner.plan(at: time(0))
        planner.set(bitrate: 300_000, of: "a")
        planner.plan(at: time(1), keeping: [id(0)])
        #expect(planner.orders.mapValues(\.bitrate) == [id(0): 2_000_000, id(1): 300_000])
        planner.plan(at: time(2))
        #expect(planner.orders.keys.map(\.tier) == [1])
    }
}
