import InletCore
import InletOutput

/// When the segments of an HLS playlist begin, by the pictures' own time of day: `EXT-X-PROGRAM-DATE-TIME` (RFC 8216,
/// 4.3.2.6). libavformat's own is the machine's clock when the muxer was opened, and the lengths since. Pure.
///
/// libavformat writes the playlist when a packet begins the next segment.
struct PlaylistDates {
    /// The times of day at which segments begin, by their numbers, as far as they are known.
    private var starts: [Int: Int64] = [:]
    private var first: Int64??
    private var current: Int64?
    private var hasPlaylist = false

    /// Notes the packet that is written next.
    ///
    /// - Parameter wallClock: when its picture was taken, in nanoseconds since 1970; nil if that is not known.
    mutating func begin(_ wallClock: Int64?) {
        if first == nil { first = .some(wallClock) }
        current = wallClock
    }

    /// Adds to a playlist the times that are known.
    mutating func added(to playlist: String) -> String {
        let lines = playlist.split(atByte: "\n")
        let numbers = lines.compactMap(Self.number)
        guard let oldest = numbers.min(), let newest = numbers.max() else { return playlist }
        if !hasPlaylist, let first { starts[oldest] = first }
        hasPlaylist = true
        starts = starts.filter { $0.key >= oldest }
        starts[newest + 1] = current
        var text: [Substring] = []
        for (index, line) in lines.enumerated() {
            if line.hasBytePrefix("#EXTINF:"), let number = lines[(index + 1)...].lazy.compactMap(Self.number).first,
                let start = starts[number]
            {
                text.append("#EXT-X-PROGRAM-DATE-TIME:\(CalendarTime(start, in: .utc).utcText)")
            }
            text.append(line)
        }
        return text.joined(separator: "\n")
    }

    /// Returns the number of the segment that a line names; nil if it names none.
    private static func number(_ line: Substring) -> Int? {
        guard line.hasBytePrefix("index"), line.hasByteSuffix(".ts") else { return nil }
        return TextBytes.number(line.utf8.dropFirst(5).dropLast(3), upTo: 1 << 53)
    }
}
