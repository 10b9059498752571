/// Finds a piece of a picture that libavformat has put into a packet twice.
///
/// UDP may deliver a packet twice, and libavformat (5.1) takes the second for the next one: a picture in fragments then holds one of them
/// twice in a row. Decoders do not notice reliably. In compressed data that does not happen by itself: a stretch that repeats the one of the same
/// length right before it, and no more than that, is a fragment that came twice. (Data with a period of its own repeats for longer.)
struct RepeatedFragment {
    /// Where the words at every ``step``th byte are, by a hash of them.
    private var places = [Int32](repeating: -1, count: 1 << bits)

    private static let bits = 11
    private static let step = 128
    /// Shorter fragments are those at the end of a picture, where a repetition does no harm.
    private static let shortest = 400
    /// How far the repetition may be from the fragment's own length: libavformat puts a start code and header before a first fragment.
    private static let slack = 8
    private static let word = 8

    /// Whether one is in the data of a packet.
    mutating func exists(in bytes: RawSpan) -> Bool {
        let end = bytes.byteCount - Self.word
        guard end >= 2 * Self.shortest else { return false }
        for index in places.indices { places[index] = -1 }
        for position in 0..<end {
            let word = bytes.unsafeWord(at: position)
            let slot = Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.bits))
            let earlier = Int(places[slot])
            if earlier >= 0, position - earlier >= Self.shortest, bytes.unsafeWord(at: earlier) == word,
                isRepeated(bytes, from: earlier, after: position - earlier)
            {
                return true
            }
            if position % Self.step == 0 { places[slot] = Int32(truncatingIfNeeded: position) }
        }
        return false
    }

    /// Whether as many bytes as `distance` are followed by the same, and no more.
    private func isRepeated(_ bytes: RawSpan, from position: Int, after distance: Int) -> Bool {
        func isSame(_ index: Int) -> Bool {
            bytes.unsafeByte(at: index) == bytes.unsafeByte(at: index + distance)
        }
        let most = distance + Self.slack
        var (first, last) = (position, position)
        while first > 0, position - first <= most, isSame(first - 1) { first -= 1 }
        while last + distance < bytes.byteCount, last - first <= most, isSame(last) { last += 1 }
        return abs(last - first - distance) <= Self.slack
    }
}

extension RawSpan {
    /// Callers keep within bounds.
    fileprivate func unsafeWord(at offset: Int) -> UInt64 {
        unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    }
    fileprivate func unsafeByte(at offset: Int) -> UInt8 {
        unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }
}
