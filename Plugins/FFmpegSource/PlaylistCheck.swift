import FoundationEssentials
import InletCore

/// Looks through an HLS playlist (RFC 8216) before libavformat does, and reads it as libavformat does: as bytes.
///
/// libavformat (5.1) reads a playlist of any length into memory, and reads through a null pointer where a rendition has
/// no segments.
enum PlaylistCheck {
    /// How every playlist begins.
    static let mark = Array("#EXTM3U".utf8)
    /// Longer playlists are refused: 4 MB are a day of two-second segments.
    static let mostBytes = 4 << 20
    /// libavformat cuts longer lines.
    private static let longestLine = 4000

    /// The playlist as libavformat may have it.
    ///
    /// - Parameter base: where redirects have led, against which its addresses are to be resolved; nil where they have
    ///   not.
    /// - Returns: nil where the playlist cannot be played.
    static func accept(_ bytes: [UInt8], base: String?) -> [UInt8]? {
        // NUL would end a line for libavformat, and its text for everyone else.
        guard bytes.starts(with: mark), bytes.count <= mostBytes, !bytes.contains(0) else { return nil }
        let baseURL = base.flatMap { URL(string: $0) }
        var segments = 0
        var variants = 0
        // Both tags may stand before one address, which is then both.
        var isSegment = false
        var isVariant = false
        var result: [UInt8] = []
        for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            guard line.count <= longestLine else { return nil }
            // Spaces in front belong to an address: a tag behind one is none.
            guard let end = line.lastIndex(where: { !$0.isASCIISpace }) else { continue }
            let line = line[...end]
            if line.first == UInt8(ascii: "#") {
                isSegment = isSegment || line.starts(with: "#EXTINF:".utf8)
                isVariant = isVariant || line.starts(with: "#EXT-X-STREAM-INF:".utf8)
                result += resolveAttribute(of: line, against: baseURL)
            } else {
                segments += isSegment ? 1 : 0
                variants += isVariant ? 1 : 0
                (isSegment, isVariant) = (false, false)
                result += resolve(line, against: baseURL)
            }
            result.append(UInt8(ascii: "\n"))
        }
        // Both kinds in one are neither.
        guard (segments > 0) != (variants > 0) else { return nil }
        return baseURL == nil ? bytes : result
    }

    private static func resolve(_ address: ArraySlice<UInt8>, against base: URL?) -> [UInt8] {
        guard let base, let text = String(validating: address, as: UTF8.self),
            let url = URL(string: text, relativeTo: base)
        else { return Array(address) }
        return Array(url.absoluteString.utf8)
    }

    /// `URI="..."` in a tag.
    private static func resolveAttribute(of line: ArraySlice<UInt8>, against base: URL?) -> [UInt8] {
        let name = Array("URI=\"".utf8)
        guard base != nil, let start = line.indices.first(where: { line[$0...].starts(with: name) }),
            let end = line[(start + name.count)...].firstIndex(of: UInt8(ascii: "\""))
        else { return Array(line) }
        let address = line[(start + name.count)..<end]
        return line[..<(start + name.count)] + resolve(address, against: base) + line[end...]
    }
}
