import InletCore
import Testing

/// Numbers that a file or a network may state: the limits of their types, and their neighbours.
private let edges: [Int64] = [.min, .min + 1, -(1 << 62), -1, 0, 1, 1 << 31, 1 << 32, 1 << 62, .max - 1, .max]

@Suite struct SaturatingArithmeticTests {
    @Test("Sums, differences and products are exact within the type, and clamped beyond")
    func saturates() {
        for left in edges {
            for right in edges {
                #expect(left.adding(saturating: right) == Int64(clamping: Int128(left) + Int128(right)))
                #expect(left.subtracting(saturating: right) == Int64(clamping: Int128(left) - Int128(right)))
                #expect(left.multiplied(saturatingBy: right) == Int64(clamping: Int128(left) * Int128(right)))
            }
        }
        #expect(UInt8(200).adding(saturating: 100) == 255)
        #expect(UInt8(100).subtracting(saturating: 200) == 0)
    }

    @Test("No time and no ratio traps, whatever its numbers")
    func extremes() throws {
        let ratios = edges.flatMap { above in edges.filter { $0 != 0 }.map { Rational(Int(above), Int($0)) } }
        for ratio in ratios {
            #expect(ratio.denominator > 0)
            if let reciprocal = ratio.reciprocal { #expect((reciprocal < Rational(0)) == (ratio < Rational(0))) }
        }
        let bases = ratios.filter { $0 > Rational(0) }
        let times = edges.flatMap { ticks in bases.map { MediaTime(ticks: ticks, timeBase: $0) } }
        var counted = 0
        for (index, time) in times.enumerated() {
            let other = times[(index &* 7919) % times.count]
            #expect((time < other) != (other <= time))
            // The order of whole nanoseconds is that of the times, unless those are equal.
            if time.nanoseconds < other.nanoseconds { #expect(time < other) }
            for ratio in [ratios[index % ratios.count], Rational(0), Rational(-1)] {
                let scaled = time.rescaled(to: ratio).ticks
                if ratio <= Rational(0), ratio != time.timeBase { #expect(scaled == (time.ticks < 0 ? .min : .max)) }
                counted += 1
            }
        }
        #expect(counted == 3 * times.count && times.count > 500)
    }

    @Test("The pixels and bytes of an impossible size are clamped")
    func sizes() {
        let largest = ImageSize(width: .max, height: .max)
        #expect(largest.pixelCount == .max)
        #expect(largest.packedI420ByteCount == .max)
        #expect(ImageSize(width: 5, height: 3).packedI420ByteCount == 15 + 2 * 6)
    }
}
