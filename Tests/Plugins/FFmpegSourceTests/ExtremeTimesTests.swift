import InletCore
import Testing

@testable import FFmpegSource
@testable import InletDecode

/// A source's calculations with times, for impossible times.
@Suite struct ExtremeTimesTests {
    private static let edges: [Int64] = [.min, .min + 1, -(1 << 62), -1, 0, 1, 1 << 62, .max - 1, .max]
    private static let timeBases = [
        Rational(1, Int(Int32.max)), Rational(Int(Int32.max)), Rational(1, 90_000), Rational(1, 1_000_000_000),
    ]
    private static let rates = [Rational(1, Int(Int32.max)), Rational(Int(Int32.max)), Rational(25)]

    @Test("Packets are selected whatever their times")
    func selection() {
        for timeBase in Self.timeBases {
            for rate in Self.rates {
                for known in [[], [Int64.max], [1 << 62, .min], [-1]] as [[Int64]] {
                    var selection = PacketSelection(timeBase: timeBase, known: known)
                    var fates = 0
                    for time in Self.edges + Self.edges.reversed() {
                        _ = selection.fate(isKey: true, time: time, wanted: rate)
                        _ = selection.fate(isKey: false, time: time, wanted: rate)
                        fates += 2
                    }
                    #expect(fates == 4 * Self.edges.count)
                }
            }
        }
    }

    @Test("Decoding times increase and are never later than the picture is shown")
    func decodingTimes() {
        for depth in [0, 1, 16, .max] {
            for interval in [Int64.min, 1, 3600, .max] {
                var times = DecodingTimes(depth: depth, interval: interval)
                times.learn(from: Self.edges)
                var last: Int64?
                for pts in Self.edges + Self.edges.reversed() + Self.edges {
                    guard let dts = times.next(pts: pts) else {
                        last = nil
                        continue
                    }
                    #expect(dts <= pts)
                    if let last { #expect(dts > last) }
                    last = dts
                }
            }
        }
    }

    @Test("A repeated file continues after its own end")
    func passes() {
        var passes = FilePasses(repetitions: -1)
        for time in Self.edges {
            for length in Self.edges { passes.note(time, length: length) }
            let before = passes.offset
            let hasNext = passes.beginNext()
            #expect(hasNext)
            #expect(passes.offset > before || passes.offset == .max)
        }
    }

    @Test("The rate is determined by arrival times if a stream's own make no sense")
    func audit() throws {
        for timeBase in Self.timeBases {
            var audit = RateAudit(most: Rational(240), timeBase: timeBase)
            for index in 0..<2000 {
                // 25 frames a second.
                let arrival = MonotonicTime(nanoseconds: Int64(index) * 40_000_000)
                try audit.note(Self.edges[index % Self.edges.count], arrival: arrival)
            }
        }
    }

    @Test("A frame lasts at least a tick")
    func frameTicks() {
        for timeBase in Self.timeBases {
            for rate in Self.rates + [Rational(-25), Rational(0)] {
                let facts = StreamFacts(index: 0, timeBase: timeBase, rotation: .none, frameRate: rate)
                #expect(facts.frameTicks >= 1)
            }
        }
    }
}
