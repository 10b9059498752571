import InletCore
import InletOutput
import NIOCore

/// The last segments of a stream and their playlist: HTTP Live Streaming, RFC 8216. Pure.
///
/// Segments end at key frames. A segment that gets too long ends earlier, for example if a camera sends a key frame
/// every minute.
struct SegmentWindow {
    /// A part of the stream with its own URL.
    private struct Segment {
        var number: Int64
        /// The number of the segment's initialization section.
        var map: Int64
        /// Whether the segment does not continue the previous one.
        var isDiscontinuity: Bool
        var times: FragmentTimes
        var bytes = ByteBuffer()
    }

    /// The shortest segment, except before a gap. It is slightly below a second, for cameras with a key frame each
    /// second.
    private static let shortest = Duration.milliseconds(900)
    /// The longest segment while no client has received a target duration.
    private static let longest = Duration.seconds(6)
    /// The smallest target duration in seconds, because an unusually early key frame must not determine it.
    private static let shortestTarget = 2
    /// The maximum number of bytes of one segment.
    static let mostBytesEach = 8 << 20
    /// The maximum number of bytes of all segments.
    static let mostBytes = 48 << 20
    /// How much longer than its target a segment may be. Lengths are rounded (RFC 8216, 4.3.3.1).
    private static let tolerance = Duration.milliseconds(490)
    /// How much of the stream is listed and kept, in target durations. A client may still request segments that were in
    /// its last playlist (RFC 8216, 6.2.2).
    private static let (listedTargets, keptTargets) = (4, 8)

    /// The maximum number of segments that are listed and kept. These limits are needed because segments that end at a
    /// gap have no length, for example with one picture per minute.
    static let (mostListed, mostKept) = (64, 128)

    private var complete: [Segment] = []
    private var unfinished: Segment?
    /// The initialization sections of the kept segments.
    private var maps: [Int64: ByteBuffer] = [:]
    private var map: Int64?
    private var next: Int64
    /// The end of the last fragment; nil if the next one does not continue it.
    private var end: MonotonicTime?
    private var hasGap = false
    /// The segments before this number are kept but no longer listed.
    private var firstListed: Int64
    private var discontinuitiesBefore: Int64 = 0
    /// The target duration in seconds. It does not change once it is set.
    private(set) var target: Int?
    private(set) var byteCount = 0

    /// - Parameter first: the number of the first segment. A new stream must not reuse numbers.
    init(first: Int64) { (next, firstListed) = (first, first) }

    /// Adds the initialization section of the next fragments.
    mutating func begin(_ bytes: ByteBuffer) {
        breakOff()
        map = next
        maps[next] = bytes
    }

    /// Ends the unfinished segment. The next fragment does not continue it.
    mutating func breakOff() {
        close()
        if !complete.isEmpty { hasGap = true }
        end = nil
    }

    /// Adds a fragment. A fragment that cannot be decoded is omitted.
    mutating func add(_ bytes: ByteBuffer, isKey: Bool, _ times: FragmentTimes) {
        guard let map, bytes.readableBytes <= Self.mostBytesEach else {
            breakOff()
            return
        }
        if let end, times.start - end > GapDetector.shortest || times.start < end - GapDetector.shortest {
            // A pause that is not followed by a key frame is part of its segment, if its length allows that.
            let length = unfinished.map { times.start - $0.times.start + times.length }
            if isKey || times.start < end || length.map({ $0 > limit }) ?? true { breakOff() }
        }
        guard isKey || end != nil else { return }
        if let unfinished {
            let length = times.start - unfinished.times.start
            let size = unfinished.bytes.readableBytes + bytes.readableBytes
            let isFull = length + times.length > limit || size > Self.mostBytesEach
            if isFull || isKey && length >= Self.shortest { close(at: times.start) }
        }
        if unfinished == nil {
            unfinished = Segment(number: next, map: map, isDiscontinuity: hasGap, times: times)
            next += 1
            hasGap = false
        }
        // The segment is moved out, because a second reference would copy its bytes for each fragment.
        guard var segment = unfinished.take() else { return }
        var bytes = bytes
        byteCount += segment.bytes.writeBuffer(&bytes)
        end = max(end ?? times.start, times.start + times.length)
        segment.times.length = (end ?? times.start) - segment.times.start
        unfinished = segment
    }

    private var limit: Duration { target.map { .seconds($0) + Self.tolerance } ?? Self.longest }

    /// - Parameter next: when the next segment begins, if it continues this one.
    private mutating func close(at next: MonotonicTime? = nil) {
        guard var segment = unfinished else { return }
        unfinished = nil
        if let next { segment.times.length = next - segment.times.start }
        complete.append(segment)
        target = target ?? max(Self.shortestTarget, Int((segment.times.length / .seconds(1)).rounded(.up)))
        shrink()
    }

    private mutating func shrink() {
        guard let target else { return }
        while complete.count > 1,
            listed.count > Self.mostListed || listedLength(without: 1) >= .seconds(target * Self.listedTargets)
        {
            unlistFirst()
        }
        while complete.count > 1,
            complete.count > Self.mostKept || byteCount > Self.mostBytes
                || length(complete.dropFirst()) >= .seconds(target * Self.keptTargets)
        {
            if complete[0].number >= firstListed { unlistFirst() }
            byteCount -= complete.removeFirst().bytes.readableBytes
        }
        var needed = Set(complete.map(\.map))
        if let map { needed.insert(map) }
        maps = maps.filter { needed.contains($0.key) }
    }

    private mutating func unlistFirst() {
        guard let first = listed.first else { return }
        if first.isDiscontinuity { discontinuitiesBefore += 1 }
        firstListed = first.number + 1
    }

    private var listed: ArraySlice<Segment> { complete.drop { $0.number < firstListed } }

    private func listedLength(without count: Int) -> Duration { length(listed.dropFirst(count)) }

    private func length(_ segments: ArraySlice<Segment>) -> Duration {
        segments.reduce(.zero) { $0 + $1.times.length }
    }

    // MARK: Clients

    /// The playlist; nil while there is no segment. Its URLs are relative to its own.
    var playlist: String? {
        guard let target, let first = listed.first else { return nil }
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(target)", "#EXT-X-MEDIA-SEQUENCE:\(first.number)",
        ]
        if discontinuitiesBefore > 0 { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitiesBefore)") }
        var (map, isByCamera): (Int64?, Bool?) = (nil, nil)
        for segment in listed {
            if segment.isDiscontinuity { lines.append("#EXT-X-DISCONTINUITY") }
            if segment.map != map { lines.append("#EXT-X-MAP:URI=\"hls/\(segment.map).mp4\"") }
            if segment.times.isByCamera != isByCamera {
                lines.append("# Times of day: \(segment.times.isByCamera ? "the camera's clock" : "arrival")")
            }
            (map, isByCamera) = (segment.map, segment.times.isByCamera)
            let milliseconds = max(0, segment.times.length.wholeNanoseconds) / 1_000_000
            let fraction = String("\(1000 + milliseconds % 1000)".utf8.dropFirst()) ?? ""
            lines += [
                "#EXT-X-PROGRAM-DATE-TIME:\(WallTime.text(segment.times.wallClock))",
                "#EXTINF:\(milliseconds / 1000).\(fraction),", "hls/\(segment.number).m4s",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the bytes of a file in a playlist; nil if the file does not exist or is no longer kept.
    func bytes(of file: String) -> ByteBuffer? {
        for (ending, find) in [
            (".m4s", { number in complete.first { $0.number == number }?.bytes }), (".mp4", { maps[$0] }),
        ] as [(String, (Int64) -> ByteBuffer?)] where file.hasByteSuffix(ending) {
            let digits = file.utf8.dropLast(ending.utf8.count)
            guard digits.count <= 18, let number = TextBytes.number(digits, upTo: Int(Int64.max)) else { return nil }
            return find(Int64(number))
        }
        return nil
    }
}
