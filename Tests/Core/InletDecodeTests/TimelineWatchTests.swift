import InletCore
import Testing

@testable import InletDecode

@Suite struct TimelineWatchTests {
    /// A packet in ticks of a hundredth of a second.
    struct Packet {
        var isKey = false
        var pts: Int64?
        var dts: Int64?

        static func key(_ pts: Int64?, dts: Int64? = nil) -> Self { Self(isKey: true, pts: pts, dts: dts) }
        static func delta(_ pts: Int64?, dts: Int64? = nil) -> Self { Self(pts: pts, dts: dts) }
    }

    struct Row: CustomTestStringConvertible {
        var what: String
        var packets: [Packet]
        /// The packets at which time steps back.
        var steps: [Int]
        var testDescription: String { what }

        init(_ what: String, _ packets: [Packet], steps: [Int] = []) {
            (self.what, self.packets, self.steps) = (what, packets, steps)
        }
    }

    static let table: [Row] = [
        Row("time continues", [.key(0), .delta(4), .delta(8), .key(12), .delta(16)]),
        Row("pictures are reordered", [.key(0), .delta(16), .delta(8), .delta(4), .delta(12), .key(32), .delta(24)]),
        Row(
            "pictures are reordered at one a second",
            [.key(0), .delta(800), .delta(400), .delta(200), .delta(100), .delta(300)]),
        Row("time jumps ahead", [.key(0), .delta(4), .delta(1_000_000), .delta(1_000_004)]),
        Row("a key frame is shown before the one before it", [.key(5000), .delta(5004), .key(4990)], steps: [2]),
        Row(
            "an encoder restarts with a key frame", [.key(900_000), .delta(900_004), .key(0), .delta(4)],
            steps: [2]),
        Row(
            "a 33-bit counter wraps between key frames",
            [.key(1 << 33 - 8), .delta(1 << 33 - 4), .delta(0), .delta(4), .key(8)], steps: [2]),
        Row("decoding times show it earlier", [.key(5000, dts: 4996), .delta(4850, dts: 4846)], steps: [1]),
        Row("a muxer lets decoding times go back a little", [.key(5000, dts: 4996), .delta(5004, dts: 4990)]),
        Row("there are no times", [.key(nil), .delta(nil), .key(nil)]),
        Row("some have no time", [.key(1_000_000), .delta(nil), .key(nil), .delta(0)], steps: [3]),
        Row("twice", [.key(9000), .key(8000), .key(7000), .key(7004)], steps: [1, 2]),
        Row(
            "extreme numbers", [.key(.min, dts: .max), .delta(.max, dts: .min), .key(.min), .delta(0)],
            steps: [1, 2]),
    ]

    @Test("A step back in time is detected; reordered pictures and jumps ahead are not steps back", arguments: table)
    func row(_ row: Row) {
        var watch = TimelineWatch(timeBase: Rational(1, 100))
        let steps = row.packets.indices.filter { index in
            let packet = row.packets[index]
            return watch.stepsBack(isKey: packet.isKey, pts: packet.pts, dts: packet.dts)
        }
        #expect(steps == row.steps)
    }

    @Test("Times before a known jump are forgotten")
    func reset() {
        var watch = TimelineWatch(timeBase: Rational(1, 100))
        _ = watch.stepsBack(isKey: true, pts: 100_000, dts: 100_000)
        watch.reset()
        let isStep = watch.stepsBack(isKey: true, pts: 0, dts: 0)
        #expect(!isStep)
    }
}
