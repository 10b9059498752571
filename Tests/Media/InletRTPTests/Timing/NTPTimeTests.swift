import InletRTP
import Testing

@Suite struct NTPTimeTests {
    /// The first two are of gortsplib (MIT), pkg/ntp/ntp_test.go; the others follow from RFC 5905, figure 4.
    private static let known: [(UInt64, Int64)] = [
        (15_354_565_283_395_798_332, 1_366_024_517_958_404_853),
        (15_354_565_283_574_448_128, 1_366_024_518_000_000_000),
        (2_208_988_800 << 32, 0),
        (2_208_988_800 << 32 | 0x8000_0000, 500_000_000),
        (3_155_673_600 << 32, 946_684_800_000_000_000),
    ]

    @Test("Times of this century and the last are nanoseconds since 1970", arguments: known)
    func times(_ value: UInt64, _ nanoseconds: Int64) {
        #expect(NTPTime(value: value).nanoseconds(near: 1_366_000_000_000_000_000) == nanoseconds)
    }

    /// RFC 4330, section 3: the counter overflows on 7 February 2036 at 6:28:16 UTC.
    @Test("The seconds wrap in 2036, and the nearest time counts")
    func wrap() {
        let start: Int64 = 2_085_978_496_000_000_000
        #expect(NTPTime(value: 0).nanoseconds(near: start - 1) == start)
        #expect(NTPTime(value: 1 << 32).nanoseconds(near: start + 1) == start + 1_000_000_000)
        #expect(NTPTime(value: UInt64(UInt32.max) << 32).nanoseconds(near: start + 1) == start - 1_000_000_000)
    }

    @Test("Any value near any time is read without a crash", arguments: [.min, -1, 0, .max] as [Int64])
    func extremes(_ reference: Int64) {
        for value in [0, 1, .max, .max << 32, 1 << 63] as [UInt64] {
            let time = NTPTime(value: value).nanoseconds(near: reference)
            #expect(Double(time).distance(to: Double(reference)).magnitude <= 2.2e18)
        }
    }
}
