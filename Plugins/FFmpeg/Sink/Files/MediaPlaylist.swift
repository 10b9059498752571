import InletCore
import InletOutput

/// The media playlist of an `hls:` folder (RFC 8216), which also determines the files that are still needed. Pure.
///
/// Once a segment is listed, the target duration does not change (RFC 8216, 6.2.1), not even when the recorder
/// restarts.
struct MediaPlaylist: Equatable {
    struct Segment: Equatable {
        var name: String
        var length: Duration
        /// Whether the segment begins with a key frame.
        var isIndependent = true
        /// Whether the segment does not continue the previous one.
        var isDiscontinuity = false
        /// The initialization section of the segment; nil for MPEG-TS, which needs none.
        var map: String?
        /// The time when the first picture was taken, as text; nil if unknown.
        var start: String?
    }

    /// The segments that are listed.
    private(set) var segments: [Segment] = []
    /// The segments that players may still request although they are no longer listed: RFC 8216, 6.2.2.
    private(set) var late: [Segment] = []
    /// The target duration in seconds; nil until there is a segment.
    private(set) var target: Int?
    /// The number of the first listed segment.
    private(set) var firstNumber: Int
    private var discontinuitiesBefore = 0
    /// The maximum number of listed segments; 0 is no limit.
    var mostListed: Int

    /// The time by which a segment may exceed the target, because its length is rounded (RFC 8216, 4.3.3.1).
    private static let tolerance = Duration.milliseconds(490)
    /// The largest number that Inlet writes.
    private static let largestNumber = 1 << 53

    init(firstNumber: Int, mostListed: Int) { (self.firstNumber, self.mostListed) = (firstNumber, mostListed) }

    /// The maximum duration of the next segment; nil before the first.
    var longest: Duration? { target.map { .seconds($0) + Self.tolerance } }

    /// Adds a segment.
    ///
    /// - Parameter shortestTarget: the minimum target duration, used for the first segment.
    mutating func add(_ segment: Segment, shortestTarget: Int) {
        segments.append(segment)
        let whole = Int((segment.length / .seconds(1)).rounded())
        target = max(target ?? shortestTarget, whole, 1)
        guard mostListed > 0 else { return }
        while segments.count > mostListed { unlistFirst() }
    }

    private mutating func unlistFirst() {
        let first = segments.removeFirst()
        firstNumber += 1
        if first.isDiscontinuity { discontinuitiesBefore += 1 }
        late.append(first)
    }

    /// Removes all segments from the list, because a stream with a longer target duration follows.
    mutating func unlistAll() {
        while !segments.isEmpty { unlistFirst() }
        target = nil
    }

    /// Removes the segments that no player may request any more, and returns the names of files that are no longer
    /// needed.
    ///
    /// - Parameter map: the initialization section of the next segment.
    mutating func takeUnneeded(map: String?) -> [String] {
        guard mostListed > 0, late.count > mostListed + 1 else { return [] }
        let gone = late.prefix(late.count - mostListed - 1)
        late.removeFirst(gone.count)
        let needed = Set((late + segments).compactMap(\.map) + [map].compactMap(\.self))
        return gone.map(\.name) + Set(gone.compactMap(\.map)).subtracting(needed).sorted()
    }

    /// The names of all needed files.
    var files: Set<String> { Set((late + segments).flatMap { [$0.name, $0.map].compactMap(\.self) }) }

    // MARK: Text

    /// A comment (RFC 8216, 4.1) that marks the playlist as Inlet's: files next to other programs' playlists are never
    /// deleted.
    private static let mark = "# Written by Inlet."

    /// Returns the text of the playlist.
    ///
    /// - Parameter hasEnded: whether no segments follow.
    func text(hasEnded: Bool) -> String {
        var lines = [
            "#EXTM3U", Self.mark, "#EXT-X-VERSION:\(segments.contains { $0.map != nil } ? 7 : 6)",
            "#EXT-X-TARGETDURATION:\(target ?? 1)", "#EXT-X-MEDIA-SEQUENCE:\(firstNumber)",
        ]
        if discontinuitiesBefore > 0 { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitiesBefore)") }
        if segments.allSatisfy(\.isIndependent) { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
        var map: String?
        for segment in segments {
            if segment.isDiscontinuity { lines.append("#EXT-X-DISCONTINUITY") }
            if segment.map != map, let new = segment.map { lines.append("#EXT-X-MAP:URI=\"\(new)\"") }
            map = segment.map
            if let start = segment.start { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(start)") }
            let microseconds = max(0, segment.length.wholeNanoseconds) / 1000
            let fraction = String("\(1_000_000 + microseconds % 1_000_000)".utf8.dropFirst()) ?? ""
            lines += ["#EXTINF:\(microseconds / 1_000_000).\(fraction),", segment.name]
        }
        if hasEnded { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Reads a playlist that an earlier run wrote.
    ///
    /// - Returns: nil for any other playlist, from which nothing can be inferred about files.
    init?(text: String, mostListed: Int) {
        self.init(firstNumber: 0, mostListed: mostListed)
        var segment = Segment(name: "", length: .zero)
        var (map, length): (String?, Duration?) = (nil, nil)
        let lines = text.split(atByte: "\n")
        guard lines.first?.hasBytePrefix("#EXTM3U") == true, lines.contains(where: { $0.hasBytePrefix(Self.mark) })
        else { return nil }
        for line in lines {
            func value(_ tag: String) -> Substring? {
                line.hasBytePrefix(tag) ? Substring(line.utf8.dropFirst(tag.utf8.count)) : nil
            }
            func number(_ tag: String) -> Int? {
                value(tag).flatMap { TextBytes.number($0.utf8[...], upTo: Self.largestNumber) }
            }
            if let number = number("#EXT-X-TARGETDURATION:") {
                target = number
            } else if let number = number("#EXT-X-MEDIA-SEQUENCE:") {
                firstNumber = number
            } else if let number = number("#EXT-X-DISCONTINUITY-SEQUENCE:") {
                discontinuitiesBefore = number
            } else if line == "#EXT-X-DISCONTINUITY" {
                segment.isDiscontinuity = true
            } else if let uri = value("#EXT-X-MAP:URI=\"") {
                guard uri.hasByteSuffix("\""),
                    let name = SegmentName(String(decoding: uri.utf8.dropLast(), as: UTF8.self))
                else { return nil }
                map = name.text
            } else if let time = value("#EXT-X-PROGRAM-DATE-TIME:") {
                segment.start = String(time)
            } else if let text = value("#EXTINF:") {
                length = Self.length(text)
            } else if !line.isEmpty, !line.hasBytePrefix("#") {
                guard let name = SegmentName(String(line)), let stated = length else { return nil }
                (segment.name, segment.length, segment.map) = (name.text, stated, name.kind == .fragment ? map : nil)
                segments.append(segment)
                (segment, length) = (Segment(name: "", length: .zero), nil)
            }
        }
        guard target != nil || segments.isEmpty else { return nil }
    }

    /// Reads a duration in seconds with a fraction, such as `2.000000,`.
    private static func length(_ text: Substring) -> Duration? {
        let parts = text.utf8.prefix { $0 != UInt8(ascii: ",") }.split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let seconds = parts.first.flatMap({ TextBytes.number($0, upTo: 1 << 31) }) else { return nil }
        let digits = parts.count > 1 ? Array(parts[1].prefix(6)) : []
        let padded = digits + Array(repeating: UInt8(ascii: "0"), count: 6 - digits.count)
        guard let fraction = TextBytes.number(padded[...], upTo: 999_999) else { return nil }
        return .seconds(seconds) + .microseconds(fraction)
    }
}

/// The name of a file that belongs to a playlist.
struct SegmentName: Equatable {
    enum Kind: String, CaseIterable {
        /// A segment of MPEG-TS.
        case transport = "ts"
        /// A segment of fragmented MP4.
        case fragment = "m4s"
        /// The initialization section of such segments.
        case map = "mp4"
    }

    var kind: Kind
    var number: Int

    init(_ kind: Kind, _ number: Int) { (self.kind, self.number) = (kind, number) }

    /// The lowest number: numbers start at the time when the run began, in seconds.
    private static let lowest = 1_000_000_000

    /// - Returns: nil for a name that Inlet does not use.
    init?(_ text: String) {
        for kind in Kind.allCases where text.hasBytePrefix("index") && text.hasByteSuffix(".\(kind.rawValue)") {
            let digits = text.utf8.dropFirst(5).dropLast(kind.rawValue.utf8.count + 1)
            guard let number = TextBytes.number(digits, upTo: 1 << 53), number >= Self.lowest else { return nil }
            self.init(kind, number)
            // Rejects leading zeros.
            guard text.utf8.elementsEqual(self.text.utf8) else { return nil }
            return
        }
        return nil
    }

    var text: String { "index\(number).\(kind.rawValue)" }
}
