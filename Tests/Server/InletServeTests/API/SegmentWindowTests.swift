import InletCore
import NIOCore
import Testing

@testable import InletServe

/// The playlist of HTTP Live Streaming, by the rules of RFC 8216.
struct SegmentWindowTests {
    /// Fragments of 200 ms; every one whose number is a multiple of this has a key frame.
    private static func add(
        _ fragments: Range<Int>, keyEvery interval: Int, bytes: Int = 100, to window: inout SegmentWindow
    ) {
        for number in fragments {
            let start = MonotonicTime(nanoseconds: Int64(number) * 200_000_000)
            window.add(
                ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: bytes), isKey: number % interval == 0,
                FragmentTimes(start: start, length: .milliseconds(200), wallClock: start.nanoseconds, isByCamera: true))
        }
    }

    private static func window() -> SegmentWindow {
        var window = SegmentWindow(first: 100)
        window.begin(ByteBuffer(string: "moov"))
        return window
    }

    private static func values(_ tag: String, in window: SegmentWindow) -> [String] {
        (window.playlist ?? "").split(separator: "\n").filter { $0.hasPrefix(tag) }.map {
            String($0.dropFirst(tag.count))
        }
    }

    @Test("Segments end at key frames, and the list advances with the sequence, the length and the times of day")
    func regular() {
        var window = Self.window()
        Self.add(3..<12, keyEvery: 5, to: &window)
        // The packets before the first key frame are left out, and the second segment is not complete.
        #expect(
            window.playlist == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:100
                #EXT-X-MAP:URI="hls/100.mp4"
                # Times of day: the camera's clock
                #EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:01.000Z
                #EXTINF:1.000,
                hls/100.m4s

                """)
        #expect(window.bytes(of: "100.m4s")?.readableBytes == 500 && window.bytes(of: "101.m4s") == nil)
        Self.add(12..<500, keyEvery: 5, to: &window)
        let lengths = Self.values("#EXTINF:", in: window)
        #expect(lengths == Array(repeating: "1.000,", count: 8))
        #expect(Self.values("#EXT-X-MEDIA-SEQUENCE:", in: window) == ["190"])
        #expect(Self.values("#EXT-X-TARGETDURATION:", in: window) == ["2"])
        #expect(Self.values("#EXT-X-PROGRAM-DATE-TIME:", in: window).first == "1970-01-01T00:01:31.000Z")
        // A listed segment is kept for as long again.
        #expect(window.bytes(of: "182.m4s") != nil && window.bytes(of: "181.m4s") == nil)
        #expect(window.bytes(of: "100.mp4").map { String(buffer: $0) } == "moov")
        #expect(window.byteCount <= 17 * 500)
    }

    @Test("If key frames are rare, segments end between them, and no segment is longer than its target")
    func rareKeyFrames() {
        var window = Self.window()
        Self.add(0..<300, keyEvery: 300, to: &window)
        #expect(Self.values("#EXT-X-TARGETDURATION:", in: window) == ["6"])
        #expect(Self.values("#EXTINF:", in: window).allSatisfy { $0 == "6.400," || $0 == "6.000," })
        // The first key frames were frequent, and the target does not change.
        window = Self.window()
        Self.add(0..<10, keyEvery: 5, to: &window)
        Self.add(10..<100, keyEvery: 50, to: &window)
        #expect(Self.values("#EXT-X-TARGETDURATION:", in: window) == ["2"])
        #expect(Self.values("#EXTINF:", in: window).allSatisfy { (Double($0.dropLast()) ?? 9).rounded() <= 2 })
    }

    @Test("A discontinuity is stated, with the data needed to decode it, and counted once it is no longer listed")
    func discontinuities() {
        var window = Self.window()
        Self.add(0..<10, keyEvery: 5, to: &window)
        // A pause, and a key frame after it.
        Self.add(20..<31, keyEvery: 5, to: &window)
        #expect(Self.values("#EXT-X-DISCONTINUITY", in: window) == [""])
        #expect(Self.values("#EXTINF:", in: window).count == 4)
        // A short pause within a segment is part of it; after a longer one everything up to a key frame is left out.
        Self.add(34..<36, keyEvery: 5, to: &window)
        #expect(Self.values("#EXT-X-DISCONTINUITY", in: window) == [""])
        #expect(Self.values("#EXTINF:", in: window).last == "1.000,")
        Self.add(52..<61, keyEvery: 5, to: &window)
        #expect(Self.values("#EXT-X-DISCONTINUITY", in: window) == ["", ""])
        #expect(Self.values("#EXT-X-PROGRAM-DATE-TIME:", in: window).last == "1970-01-01T00:00:11.000Z")
        // Other parameters.
        window.breakOff()
        window.begin(ByteBuffer(string: "other"))
        Self.add(0..<6, keyEvery: 5, to: &window)
        let maps = Self.values("#EXT-X-MAP:URI=\"hls/", in: window).map { String($0.dropLast()) }
        #expect(maps.count == 2 && maps.last.flatMap { window.bytes(of: $0) }.map { String(buffer: $0) } == "other")
        Self.add(6..<200, keyEvery: 5, to: &window)
        #expect(Self.values("#EXT-X-DISCONTINUITY-SEQUENCE:", in: window) == ["3"])
        #expect(maps.first.flatMap { window.bytes(of: $0) } == nil)
    }

    @Test("Memory is bounded, even if a fragment or a segment is huge")
    func bounded() {
        var window = Self.window()
        for number in 0..<60 {
            Self.add(number..<number + 1, keyEvery: 5, bytes: 4 << 20, to: &window)
            #expect(window.byteCount <= SegmentWindow.mostBytes + SegmentWindow.mostBytesEach)
        }
        #expect(!Self.values("#EXTINF:", in: window).isEmpty)
        Self.add(60..<61, keyEvery: 5, bytes: SegmentWindow.mostBytesEach + 1, to: &window)
        Self.add(61..<80, keyEvery: 5, to: &window)
        #expect(Self.values("#EXT-X-PROGRAM-DATE-TIME:", in: window).last == "1970-01-01T00:00:14.000Z")
    }

    @Test("Segments without a length, as from a camera with a picture a minute, are limited in number")
    func pictures() {
        var window = Self.window()
        for number in 0..<1000 {
            let start = MonotonicTime(nanoseconds: Int64(number) * 60_000_000_000)
            window.add(
                ByteBuffer(repeating: 0, count: 100), isKey: true,
                FragmentTimes(start: start, length: .zero, wallClock: start.nanoseconds, isByCamera: true))
            #expect(window.byteCount <= (SegmentWindow.mostKept + 1) * 100)
        }
        #expect(Self.values("#EXTINF:", in: window) == Array(repeating: "0.000,", count: SegmentWindow.mostListed))
        // The last one has not ended.
        #expect(Self.values("#EXT-X-MEDIA-SEQUENCE:", in: window) == ["\(100 + 999 - SegmentWindow.mostListed)"])
        #expect(window.bytes(of: "\(100 + 999 - SegmentWindow.mostKept).m4s") != nil)
        #expect(window.bytes(of: "\(100 + 998 - SegmentWindow.mostKept).m4s") == nil)
    }

    @Test(
        "Only names in the playlist are files",
        arguments: [
            "", ".m4s", "100", "100.M4S", "-100.m4s", "+100.m4s", "0x64.m4s", "100.m4s/", "../100.m4s", "100.mp4.m4s",
            "99999999999999999999999.m4s", "9223372036854775807.mp4", "\u{301}100.m4s", "100 .mp4",
        ])
    func names(_ name: String) {
        var window = Self.window()
        Self.add(0..<12, keyEvery: 5, to: &window)
        #expect(window.bytes(of: name) == nil)
    }
}
