import InletCore

// Unsafe: reads bytes that are about to be written.
/// Finds the top-level boxes of an MP4 file (ISO/IEC 14496-12, 4.2) in its bytes, which arrive in pieces, and keeps
/// the content of the boxes that describe samples.
struct BoxScanner {
    /// A box without its header.
    struct Box {
        var kind: BoxKind
        /// The offset of the box's header in the file.
        var offset: Int64
        /// The content; empty for boxes that are not kept.
        var content: ArraySlice<UInt8>
    }

    /// The largest box that is kept, in bytes.
    private static let most = 1 << 20
    private static let keptKinds: Set<BoxKind> = [.movie, .movieFragment]

    /// The offset of the current box.
    private var position: Int64 = 0
    /// The bytes of the current box that are being kept.
    private var kept: [UInt8] = []
    /// The number of bytes of the current box that have not arrived and will not be kept.
    private var skipped: Int64 = 0
    /// Whether all bytes so far form boxes.
    private(set) var isIntact = true

    /// Processes the next bytes and returns the boxes that they complete.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> [Box] {
        var boxes: [Box] = []
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty, isIntact {
            let skips = skipped > 0
            let count = unsafe Int(min(Int64(rest.count), skips ? skipped : Int64(wanted)))
            if skips { skipped -= Int64(count) } else { unsafe kept += rest.prefix(count) }
            unsafe rest = rest.dropFirst(count)
            if !skips { checkHeader() }
            if skipped == 0, wanted == 0, let size {
                boxes.append(Box(kind: kind, offset: position, content: kept.dropFirst(8)))
                (position, kept) = (position.adding(saturating: size), [])
            }
        }
        return boxes
    }

    /// The number of bytes of the current box that still have to be kept.
    private var wanted: Int {
        guard kept.count >= 8 else { return 8 - kept.count }
        if word(at: 0) == 1, kept.count < 16 { return 16 - kept.count }
        return Self.keptKinds.contains(kind) ? Int(word(at: 0)) - kept.count : 0
    }

    private var kind: BoxKind { BoxKind(word(at: 4)) }

    /// The size of the current box; nil until its header is complete.
    private var size: Int64? {
        guard kept.count >= 8 else { return nil }
        guard word(at: 0) == 1 else { return Int64(word(at: 0)) }
        return kept.count >= 16 ? Int64(clamping: UInt64(word(at: 8)) << 32 | UInt64(word(at: 12))) : nil
    }

    private mutating func checkHeader() {
        guard let size else { return }
        if Self.keptKinds.contains(kind) {
            isIntact = size >= kept.count && size <= Int64(Self.most) && word(at: 0) != 1
        } else {
            skipped = size - Int64(kept.count)
            isIntact = skipped >= 0
        }
    }

    private func word(at index: Int) -> UInt32 { kept[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) } }
}

/// The four letters that name a kind of box.
struct BoxKind: Hashable {
    let number: UInt32

    init(_ number: UInt32) { self.number = number }
    init(_ letters: StaticString) {
        number = letters.description.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    static let movie = BoxKind("moov")
    static let movieFragment = BoxKind("moof")
}

/// Reads numbers in network byte order. Reads past the end return zero.
struct BoxReader {
    private(set) var bytes: ArraySlice<UInt8>
    /// Whether a read went past the end.
    private(set) var isShort = false

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    mutating func word() -> UInt32 {
        guard bytes.count >= 4 else {
            isShort = true
            return 0
        }
        defer { bytes = bytes.dropFirst(4) }
        return bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func long() -> UInt64 {
        let high = word()
        return UInt64(high) << 32 | UInt64(word())
    }

    mutating func skip(_ count: Int) {
        if count > bytes.count { isShort = true }
        bytes = bytes.dropFirst(count)
    }

    /// The boxes in the remaining bytes, up to the first damaged one.
    var boxes: [(kind: BoxKind, content: ArraySlice<UInt8>)] {
        var boxes: [(kind: BoxKind, content: ArraySlice<UInt8>)] = []
        var rest = bytes
        while rest.count >= 8 {
            var header = BoxReader(rest)
            let (size, kind) = (Int(header.word()), BoxKind(header.word()))
            guard size >= 8, size <= rest.count else { break }
            boxes.append((kind, rest.prefix(size).dropFirst(8)))
            rest = rest.dropFirst(size)
        }
        return boxes
    }
}

/// Writes boxes and numbers in network byte order.
struct BoxWriter {
    private(set) var bytes: [UInt8] = []

    init() {}
    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    mutating func append(_ number: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

    mutating func append(_ kind: BoxKind, _ content: some Collection<UInt8>) {
        append(UInt32(clamping: content.count + 8))
        append(kind.number)
        bytes += content
    }

    /// Writes a box whose content is written by a closure.
    mutating func box(_ kind: BoxKind, _ write: (inout BoxWriter) -> Void) {
        let start = bytes.count
        append(UInt32(0))
        append(kind.number)
        write(&self)
        set(UInt32(clamping: bytes.count - start), at: start)
    }

    /// Overwrites a number.
    mutating func set(_ number: some FixedWidthInteger, at index: Int) {
        let size = number.bitWidth / 8
        guard index >= 0, index + size <= bytes.count else { return }
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.replaceSubrange(index..<index + size, with: $0) }
    }
}
