import InletCore

/// Damages texts with a seed: bytes, lines, words and numbers, like hostile and broken peers.
struct TextMutator {
    private var random: SplitMix64
    private let corpus: [[UInt8]]
    private static let numbers = [
        "0", "-1", "1", "127", "128", "255", "256", "65535", "65536", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e309", "0x41", "٣", "",
    ].map { Array($0.utf8) }
    private static let words = [
        "\u{0}", "\r", "\n", "\r\n", "\r\n\r\n", ":", "::", "=", ";", "/", "\\", "\"", "<", ">", "%s%n", "é",
        "\u{2028}", "\u{301}",
        "a=", "m=", "m=video 0 x 0\r\n", "a=inactive", "a=mid:", "\u{FEFF}", String(repeating: "A", count: 5000),
        String(repeating: " ", count: 300),
    ].map { Array($0.utf8) }

    init(seed: UInt64, corpus: [String]) {
        random = SplitMix64(seed: seed)
        self.corpus = corpus.map { Array($0.utf8) }
    }

    /// Returns the next text, damaged in one to six places. The damaged bytes may be invalid UTF-8 before they become a
    /// string, like bytes from a network.
    mutating func next() -> String {
        var bytes = corpus[below(corpus.count)]
        for _ in 0...below(6) { spoil(&bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(max(1, bound))) }

    private mutating func spoil(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes = [UInt8(ascii: "v")] }
        let place = below(bytes.count)
        switch below(9) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes[place] ^= 1 << UInt8(below(8))
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(40)))
        case 3: bytes.insert(contentsOf: Array(bytes[place..<min(bytes.count, place + 60)]), at: below(bytes.count))
        case 4: bytes.removeSubrange(place...)
        case 5: bytes.insert(contentsOf: Self.words[below(Self.words.count)], at: place)
        case 6: replaceNumber(in: &bytes, near: place)
        case 7: swapLines(&bytes, place)
        default: bytes += corpus[below(corpus.count)]
        }
        // The size of descriptions is checked before they are read.
        if bytes.count > 65_536 { bytes.removeSubrange(65_536...) }
    }

    private mutating func replaceNumber(in bytes: inout [UInt8], near place: Int) {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let start = bytes[place...].firstIndex(where: digits.contains) else { return }
        let end = bytes[start...].firstIndex { !digits.contains($0) } ?? bytes.endIndex
        bytes.replaceSubrange(start..<end, with: Self.numbers[below(Self.numbers.count)])
    }

    /// Moves a line to another place.
    private mutating func swapLines(_ bytes: inout [UInt8], _ place: Int) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.remove(at: below(lines.count))
        lines.insert(line, at: below(lines.count + 1))
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
