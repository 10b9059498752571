import InletHTTPServer
import Testing

/// The examples of RFC 9110, 14.1.2, for 10,000 bytes, and invalid ranges.
@Suite struct ByteRangeTests {
    @Test(
        "A range is the part that it names, as far as it exists",
        arguments: [
            ("bytes=0-499", ByteRange.part(0..<500)), ("bytes=500-999", .part(500..<1000)),
            ("bytes=-500", .part(9500..<10_000)), ("bytes=9500-", .part(9500..<10_000)),
            ("BYTES= 0-0 ", .part(0..<1)), ("bytes=9999-20000", .part(9999..<10_000)),
            ("bytes=-20000", .part(0..<10_000)), ("bytes=0-99999999999999999999999", .part(0..<10_000)),
            ("bytes=10000-", .unsatisfiable), ("bytes=99999999999999999999999-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=5-4", .whole), ("bytes=0-0,-1", .whole), ("bytes=", .whole),
            ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=1-2-3", .whole), ("lines=1-2", .whole), ("", .whole),
            ("bytes=٣-٤", .whole),
        ])
    func ranges(_ header: String, _ range: ByteRange) { #expect(ByteRange(header, of: 10_000) == range) }

    @Test("An empty file has no part")
    func nothing() {
        #expect(ByteRange(nil, of: 0) == .whole)
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-5", of: 0) == .unsatisfiable)
    }
}
