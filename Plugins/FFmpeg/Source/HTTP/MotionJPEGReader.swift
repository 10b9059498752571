import InletCore

/// Finds the pictures of Motion JPEG in bytes as they arrive, regardless of the data between them: the boundaries and
/// headers of a multipart stream (RFC 2046, section 5.1), or nothing.
///
/// Cameras deviate from the standard in every part of a multipart header, so pictures are found by their own markers
/// (ITU-T T.81, annex B): from start of image to end of image. A stated Content-Length is only a hint: up to it, bytes
/// after the end of image count as part of the same picture, and a picture without an end of image ends there.
///
/// A truncated picture is returned as far as it arrived, so that the decoder reports and counts it.
struct MotionJPEGReader {
    /// The longest picture. The default is 64 MiB.
    var mostPictureBytes = 64 << 20
    /// The maximum number of consecutive bytes that belong to no picture. The default is 4 MiB.
    var mostOtherBytes = 4 << 20

    /// The bytes that are still needed.
    private var bytes: [UInt8] = []
    /// The offset in `bytes` of the current picture; nil between pictures.
    private var start: Int?
    /// The offset in `bytes` at which the search continues.
    private var place = 0
    /// The offset in `bytes` of the end of the latest picture.
    private var gap = 0
    /// The offset in `bytes` of the end of the latest picture's part, according to its Content-Length.
    private var partEnd = 0
    /// The offset in `bytes` of the end of the current segment, which may contain a preview.
    private var segmentEnd = 0
    /// Whether the data of the current picture has begun. There, damage must not look like a segment.
    private var isInScan = false
    /// The Content-Length of the current part.
    private var statedLength: Int?
    /// Whether a boundary preceded the current picture.
    private var hasBoundary = false
    /// The beginning of the last line that was searched for a boundary without success, and the offset up to which it
    /// was searched; nil at the beginning of a search. Damaged data has many positions that look like a picture;
    /// thanks to this, the lines before them are read only once.
    private var searched: (line: Int, end: Int)?
    /// The number of bytes since the latest picture, excluding those in `bytes`.
    private var skipped = 0

    /// The longest part header that is read.
    private static let longestHeader = 4096
    /// The maximum length of a beginning without anything to decode: the start of image and the first byte of a
    /// marker.
    private static let emptyPicture = 4
    private static let lineFeed = UInt8(ascii: "\n")
    private static let dash = UInt8(ascii: "-")

    /// Whether so much data has arrived without a picture that none can be expected.
    var isHopeless: Bool { start == nil && skipped > mostOtherBytes }

    /// Adds bytes that have arrived.
    mutating func append(_ arrived: some Collection<UInt8>) {
        let unused = start ?? max(0, place - Self.longestHeader)
        if unused > 0 {
            if start == nil { skipped = skipped.adding(saturating: max(0, unused - gap)) }
            bytes.removeFirst(unused)
            place -= unused
            gap = max(0, gap - unused)
            partEnd = max(0, partEnd - unused)
            segmentEnd = max(0, segmentEnd - unused)
            searched = searched.flatMap { $0.line >= unused ? ($0.line - unused, $0.end - unused) : nil }
            if start != nil { start = 0 }
        }
        bytes += arrived
    }

    /// Returns the next picture; nil if more bytes must arrive first.
    mutating func next() -> [UInt8]? {
        while start != nil || findStart() {
            if let picture = findEnd() { return picture }
            if start != nil { return nil }
        }
        return nil
    }

    /// Returns the picture that the end of the data truncated; nil if the data ended between pictures.
    mutating func finish() -> [UInt8]? {
        defer { (bytes, start, place, gap, partEnd, searched) = ([], nil, 0, 0, 0, nil) }
        guard let start, bytes.count - start > Self.emptyPicture else { return nil }
        return Array(bytes[start...])
    }

    // MARK: Between pictures

    /// Finds the start of the next picture; returns false if more bytes must arrive first.
    private mutating func findStart() -> Bool {
        while let found = bytes[place...].firstIndex(of: 0xFF) {
            guard found + 2 < bytes.count else {
                place = found
                return false
            }
            guard bytes[found + 1] == Marker.startOfImage, bytes[found + 2] == 0xFF else {
                place = found + 1
                continue
            }
            // This is another picture of the same part, such as a preview after the picture.
            guard found >= partEnd || boundary(from: gap, to: found) != nil else {
                place = found + 2
                continue
            }
            let header = header(from: gap, to: found)
            searched = nil
            (start, place, skipped) = (found, found + 2, 0)
            (statedLength, hasBoundary) = (header.length, header.boundary != nil)
            (segmentEnd, isInScan) = (0, false)
            return true
        }
        place = bytes.count
        return false
    }

    /// Reads the lines before a picture.
    ///
    /// - Returns: the offset of the first boundary (nil without one), and the Content-Length after the last boundary.
    private func header(from begin: Int, to end: Int) -> (boundary: Int?, length: Int?) {
        var (boundary, length) = (Int?.none, Int?.none)
        var line = max(begin, end - Self.longestHeader)
        while line < end {
            let next = bytes[line..<end].firstIndex(of: Self.lineFeed) ?? end
            if next - line >= 2, bytes[line] == Self.dash, bytes[line + 1] == Self.dash {
                (boundary, length) = (boundary ?? line, nil)
            } else if let stated = Self.contentLength(bytes[line..<next]), stated <= mostPictureBytes {
                length = stated
            }
            line = next + 1
        }
        return (boundary, length)
    }

    /// Returns the offset of the first boundary; nil without a boundary. A later search then continues where this one
    /// ended.
    private mutating func boundary(from begin: Int, to end: Int) -> Int? {
        var line = max(begin, end - Self.longestHeader)
        var place = line
        if let searched {
            line = max(line, searched.line)
            place = min(end, max(line, searched.end))
        }
        while line < end {
            let next = bytes[place..<end].firstIndex(of: Self.lineFeed)
            if (next ?? end) - line >= 2, bytes[line] == Self.dash, bytes[line + 1] == Self.dash { return line }
            guard let next else { break }
            (line, place) = (next + 1, next + 1)
        }
        searched = (line, end)
        return nil
    }

    private static func contentLength(_ line: ArraySlice<UInt8>) -> Int? {
        let name = Array("content-length".utf8)
        guard line.count > name.count, line.count < 64, zip(line, name).allSatisfy({ $0 | 0x20 == $1 }),
            let colon = line.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let text = String(decoding: line[(colon + 1)...], as: UTF8.self).trimmed()
        return Int(text).flatMap { $0 > 0 ? $0 : nil }
    }

    // MARK: In a picture

    /// The second bytes of markers (ITU-T T.81, table B.1).
    private enum Marker {
        static let startOfImage: UInt8 = 0xD8
        static let endOfImage: UInt8 = 0xD9
        static let startOfScan: UInt8 = 0xDA

        /// Returns whether a segment with a length follows the marker. Other codes after FF are data or damage.
        static func hasSegment(_ code: UInt8) -> Bool {
            switch code {
            case 0xC0...0xC7, 0xC9...0xCF, 0xDA...0xDF, 0xE0...0xEF, 0xFE: true
            default: false
            }
        }
    }

    /// Returns the picture that begins at `start`, complete or truncated by the next one. Returns nil if more bytes
    /// must arrive, or if the picture is empty, after which `start` is nil.
    private mutating func findEnd() -> [UInt8]? {
        guard let start else { return nil }
        let stated = statedLength.map { start.adding(saturating: $0) }
        while place < bytes.count, let found = bytes[place...].firstIndex(of: 0xFF) {
            if let stated, found >= stated, isBoundary(at: stated) { return take(upTo: stated) }
            place = found
            guard found + 3 < bytes.count || found + 1 < bytes.count && bytes[found + 1] == Marker.endOfImage else {
                break
            }
            let code = bytes[found + 1]
            if code == Marker.startOfImage {
                if let boundary = boundary(from: start, to: found) { return take(upTo: endOfLine(boundary)) }
                // If the stream has boundaries, a start of image without one is damage. Segments may contain a
                // preview.
                if !hasBoundary, found >= segmentEnd { return take(upTo: found) }
                place = found + 1
            } else if found < segmentEnd {
                place = found + 1
            } else if code == Marker.endOfImage {
                return take(upTo: found + 2, partEnd: stated)
            } else {
                // Any number of FF bytes may precede a marker.
                place = found + (code == 0xFF ? 1 : 2)
                if !isInScan, Marker.hasSegment(code) {
                    let length = Int(bytes[found + 2]) << 8 | Int(bytes[found + 3])
                    let end = found + 2 + length
                    // A segment that is longer than its part is damaged.
                    if end <= stated ?? .max { segmentEnd = end }
                    isInScan = code == Marker.startOfScan
                }
            }
        }
        if place < bytes.count, bytes[place] != 0xFF { place = bytes.count }
        if let stated, place >= stated, isBoundary(at: stated) { return take(upTo: stated) }
        guard bytes.count - start > mostPictureBytes else { return nil }
        // The beginning is returned so that the picture is counted.
        defer { place = bytes.count }
        return take(upTo: start + Self.longestHeader)
    }

    /// Returns the offset of the end of the line before a boundary.
    private func endOfLine(_ boundary: Int) -> Int {
        var end = boundary
        if end > 0, bytes[end - 1] == Self.lineFeed { end -= 1 }
        if end < boundary, end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return end
    }

    /// Returns whether a boundary, with at most a line end before it, is at an offset.
    private func isBoundary(at offset: Int) -> Bool {
        guard offset < bytes.count else { return false }
        let rest = bytes[offset...].prefix(6).drop { $0 == Self.lineFeed || $0 == UInt8(ascii: "\r") }
        return rest.startIndex - offset <= 4 && rest.prefix(2).elementsEqual([Self.dash, Self.dash])
    }

    /// Ends the current picture.
    ///
    /// - Parameter partEnd: the end of its part; nil if that is the end of the picture.
    /// - Returns: the picture; nil if it is empty.
    private mutating func take(upTo end: Int, partEnd: Int? = nil) -> [UInt8]? {
        guard let begin = start else { return nil }
        (start, statedLength, place, gap, searched) = (nil, nil, end, end, nil)
        self.partEnd = partEnd ?? end
        return end - begin > Self.emptyPicture ? Array(bytes[begin..<end]) : nil
    }
}
