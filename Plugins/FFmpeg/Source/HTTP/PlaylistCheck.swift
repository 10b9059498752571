import FoundationEssentials
import InletCore

/// Checks an HLS playlist (RFC 8216) before libavformat reads it. Parses it as bytes, like libavformat.
///
/// libavformat (5.1) reads a playlist of any length into memory, and dereferences a null pointer if a rendition has no
/// segments.
enum PlaylistCheck {
    /// The beginning of every playlist.
    static let mark = Array("#EXTM3U".utf8)
    /// The maximum length of a playlist: 4 MB hold a day of two-second segments.
    static let mostBytes = 4 << 20
    /// The maximum length of a line; libavformat cuts longer ones.
    private static let longestLine = 4000

    /// Returns the playlist in a form that libavformat may read.
    ///
    /// - Parameter base: the address after redirects, against which the playlist's addresses are resolved; nil if
    ///   there was no redirect.
    /// - Returns: nil if the playlist cannot be played.
    static func accept(_ bytes: [UInt8], base: String?) -> [UInt8]? {
        // NUL would end a line for libavformat, and the text for all other readers.
        guard bytes.starts(with: mark), bytes.count <= mostBytes, !bytes.contains(0) else { return nil }
        let baseURL = base.flatMap { URL(string: $0) }
        var segments = 0
        var variants = 0
        // Both tags may precede one address, which then counts as both.
        var isSegment = false
        var isVariant = false
        var result: [UInt8] = []
        for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            guard line.count <= longestLine else { return nil }
            // Leading spaces belong to an address: a tag after spaces is not a tag.
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
        // A playlist with both kinds is invalid.
        guard (segments > 0) != (variants > 0) else { return nil }
        return baseURL == nil ? bytes : result
    }

    private static func resolve(_ address: ArraySlice<UInt8>, against base: URL?) -> [UInt8] {
        guard let base, let text = String(validating: address, as: UTF8.self),
            let url = URL(string: text, relativeTo: base)
        else { return Array(address) }
        return Array(url.absoluteString.utf8)
    }

    /// Resolves `URI="..."` in a tag.
    private static func resolveAttribute(of line: ArraySlice<UInt8>, against base: URL?) -> [UInt8] {
        let name = Array("URI=\"".utf8)
        guard base != nil, let start = line.indices.first(where: { line[$0...].starts(with: name) }),
            let end = line[(start + name.count)...].firstIndex(of: UInt8(ascii: "\""))
        else { return Array(line) }
        let address = line[(start + name.count)..<end]
        return line[..<(start + name.count)] + resolve(address, against: base) + line[end...]
    }
}
