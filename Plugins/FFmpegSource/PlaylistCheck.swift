import FoundationEssentials
import InletCore

/// Looks through an HLS playlist (RFC 8216) before libavformat does.
///
/// libavformat (5.1) reads a playlist of any length into memory, and reads through a null pointer where a rendition has no segments.
enum PlaylistCheck {
    /// How every playlist begins.
    static let mark = Array("#EXTM3U".utf8)
    /// Longer playlists are refused: 4 MB are a day of two-second segments.
    static let mostBytes = 4 << 20
    /// libavformat cuts longer lines.
    private static let longestLine = 4000

    /// The playlist as libavformat may have it.
    ///
    /// - Parameter base: where redirects have led, against which its addresses are to be resolved; nil where they have not.
    /// - Returns: nil where it is no playlist that can be played.
    static func accept(_ bytes: [UInt8], base: String?) -> [UInt8]? {
        guard bytes.starts(with: mark), bytes.count <= mostBytes, !bytes.contains(0),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let baseURL = base.flatMap { URL(string: $0) }
        var segments = 0
        var variants = 0
        var next: Substring?
        var lines: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            guard line.utf8.count <= longestLine else { return nil }
            let line = String(line).trimmed
            guard !line.hasPrefix("#") else {
                if line.hasPrefix("#EXTINF:") { next = "segment" }
                if line.hasPrefix("#EXT-X-STREAM-INF:") { next = "variant" }
                lines.append(resolveAttribute(of: line, against: baseURL))
                continue
            }
            guard !line.isEmpty else { continue }
            if next == "segment" { segments += 1 }
            if next == "variant" { variants += 1 }
            next = nil
            lines.append(resolve(line, against: baseURL))
        }
        // One of both kinds is neither.
        guard (segments > 0) != (variants > 0) else { return nil }
        return baseURL == nil ? bytes : Array(lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
    }

    private static func resolve(_ address: String, against base: URL?) -> String {
        guard let base else { return address }
        return URL(string: address, relativeTo: base)?.absoluteString ?? address
    }

    /// `URI="..."` in a tag.
    private static func resolveAttribute(of line: String, against base: URL?) -> String {
        guard base != nil, let start = line.firstRange(of: "URI=\"")?.upperBound,
            let end = line[start...].firstIndex(of: "\"")
        else { return line }
        return line[..<start] + resolve(String(line[start..<end]), against: base) + line[end...]
    }
}

extension String {
    /// Without spaces and tabs around it.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !" \t".contains($0) }),
            let last = lastIndex(where: { !" \t".contains($0) })
        else { return "" }
        return String(self[first...last])
    }
}
