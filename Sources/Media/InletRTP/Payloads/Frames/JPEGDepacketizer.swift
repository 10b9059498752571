import InletCore

/// Joins the payloads of Motion JPEG (RFC 2435) to JPEG files.
///
/// The two fields of an interlaced frame, each a JPEG, become one unit of two files, the older first, as in AVI and
/// QuickTime. Each states by its AVI1 segment which rows it has (OpenDML AVI File Format Extensions 1.02, section 7.0,
/// "AVI1 field polarity").
///
/// With ONVIF's header extension (ONVIF Streaming Specification, section "JPEG over RTP"), the segments that it carries
/// replace those that RFC 2435 derives from its few fields, which is how pictures of more than 2040 pixels are sent.
/// Such a picture may leave out tables and the frame header, which are then those of the picture before. It is dropped
/// and counted: it is unknown whether the previous picture arrived, and from which picture that one was copied.
struct JPEGDepacketizer {
    /// The fields of the payload header: section 3.1.
    private struct Fields {
        var offset = 0
        var content = Content.frame
        var type: UInt8 = 0
        var quality: UInt8 = 0
        var width = 0
        var height = 0
        var restartInterval = 0
        /// The offset of the next part of the payload.
        var end = 8

        init?(_ payload: RawSpan) {
            guard payload.byteCount >= 8 else { return nil }
            offset = Int(payload.bigEndian32(at: 0) & 0xFF_FFFF)
            content = Content(rawValue: payload[0]) ?? .frame
            (type, quality) = (payload[4], payload[5])
            (width, height) = (Int(payload[6]) * 8, Int(payload[7]) * 8)
            guard type & 0x40 != 0 else { return }
            guard payload.byteCount >= 12 else { return nil }
            restartInterval = Int(payload.bigEndian16(at: 8))
            end = 12
        }
    }

    /// The type-specific field: section 3.1.1. Other values mean nothing.
    private enum Content: UInt8 {
        case frame
        /// The field that comes first, whose rows lie below those of the other with the same number.
        case odd
        case even
        /// A field whose rows are to be shown twice.
        case doubled
    }

    private let statedSize: ImageSize?
    /// Whether a picture, which may be a field, is being received, and its RTP timestamp.
    private var isOpen = false
    private var timestamp: UInt32 = 0
    private var content = Content.frame
    /// Whether the builder holds the odd field of a frame, and whether that is damaged.
    private var isFieldKept = false
    private var isKeptDamaged = false
    /// Whether the odd field was dropped and counted, so that the even one of its frame is not.
    private var isFrameDropped = false
    // Tables of 64 or 128 bytes each, selected by the bit of the table's number in `precision`.
    private var tables: (quality: UInt8, precision: UInt8, bytes: [UInt8])?
    // The tables of qualities 128 to 254 that were sent once, at most 127 of at most 512 bytes.
    private var keptTables: [UInt8: (precision: UInt8, bytes: [UInt8])] = [:]
    private var extensionSegments: [UInt8] = []
    private var hasExtension = false
    /// Whether a picture of the stream had Huffman tables in its extension, which later ones then inherit.
    private var hasOwnHuffmanTables = false
    /// Whether the file's header is written, and how many bytes of the scan are.
    private var hasHeader = false
    private var scanSize = 0
    // The bytes of the payload headers in front of the parts of the scan.
    private var headersSize = 0
    private var isDamaged = false
    private var hasSeenMarker = false

    private static let maximumSegments = 64 << 10

    init(size: ImageSize?) { statedSize = size }

    mutating func add(
        _ header: RTPHeader, _ packet: RawSpan, lostBefore: Int, at time: MonotonicTime,
        to builder: inout AccessUnitBuilder
    ) {
        if lostBefore > 0 {
            if isOpen {
                isDamaged = isDamaged || !isWhole(builder)
            } else {
                noteHarmlessLoss(&builder)
                // The next field may belong to another frame.
                dropKeptField(&builder)
            }
        }
        if isOpen, header.timestamp != timestamp { finish(&builder) }
        let payload = packet.extracting(header.payload)
        let segments = extensionRange(header, packet)
        guard payload.byteCount > 0 || segments != nil else { return }
        let fields = Fields(payload)
        if isOpen, hasHeader, let fields, fields.offset == 0, scanSize > 0, segments == nil, !hasExtension {
            finish(&builder)
        }
        if !isOpen {
            begin(fields?.content ?? .frame, &builder)
            (isOpen, timestamp) = (true, header.timestamp)
            hasExtension = segments?.isInitial ?? false
        }
        builder.open(timestamp: header.timestamp, at: time)
        if let segments {
            let bytes = packet.extracting(segments.range)
            if hasHeader {
                // They continue the scan: section "Logical decoding specification".
                builder.append(bytes)
            } else if hasExtension {
                keepSegments(bytes, &builder)
            }
        }
        if let fields {
            addScan(fields, payload, &builder)
        } else if payload.byteCount > 0 {
            noteMalformed(&builder)
        }
        if header.hasMarker {
            hasSeenMarker = true
            finish(&builder)
        }
    }

    private func extensionRange(_ header: RTPHeader, _ packet: RawSpan) -> (range: Range<Int>, isInitial: Bool)? {
        // A recorder's extension may precede it.
        guard
            let (profile, bytes) = ONVIFReplayExtension.furtherExtension(header, of: packet) ?? header.headerExtension,
            profile == 0xFFD8 || profile == 0xFFFF, bytes.lowerBound >= 0, bytes.upperBound <= packet.byteCount
        else { return nil }
        return (bytes, profile == 0xFFD8)
    }

    private mutating func keepSegments(_ bytes: RawSpan, _ builder: inout AccessUnitBuilder) {
        guard extensionSegments.count + bytes.byteCount <= Self.maximumSegments else {
            return noteMalformed(&builder)
        }
        for index in 0..<bytes.byteCount { extensionSegments.append(bytes[index]) }
    }

    private mutating func noteMalformed(_ builder: inout AccessUnitBuilder) {
        builder.statistics.malformed &+= 1
        isDamaged = true
    }

    private mutating func addScan(
        _ fields: Fields, _ payload: RawSpan, _ builder: inout AccessUnitBuilder
    ) {
        var start = fields.end
        // Others are dynamic, or not assigned: section 3.1.3.
        guard fields.type & 0xBE == 0 else {
            if !isDamaged { builder.statistics.unsupported &+= 1 }
            isDamaged = true
            return
        }
        if fields.offset == 0, !hasHeader, fields.quality >= 128 {
            guard let size = readTables(fields, payload) else { return noteMalformed(&builder) }
            start += size
        }
        guard start < payload.byteCount else { return }
        // Some cameras count their payload headers too.
        guard fields.offset == scanSize || fields.offset == scanSize + headersSize || hasExtension else {
            isDamaged = true
            return
        }
        if !hasHeader, !isDamaged {
            let markers = Self.markers(in: extensionSegments)
            guard isSelfContained(fields, markers) else {
                builder.statistics.incompleteHeaders &+= 1
                isDamaged = true
                return
            }
            guard writeHeader(fields, markers, &builder) else { return noteMalformed(&builder) }
            hasHeader = true
        }
        let scan = payload.extracting(start..<payload.byteCount)
        builder.append(scan)
        scanSize += scan.byteCount
        headersSize += fields.end
    }

    /// Reads the quantization table header, and returns its size: section 3.1.8.
    private mutating func readTables(_ fields: Fields, _ payload: RawSpan) -> Int? {
        guard payload.byteCount >= fields.end + 4 else { return nil }
        let precision = payload[fields.end + 1]
        let size = Int(payload.bigEndian16(at: fields.end + 2))
        guard size <= payload.byteCount - fields.end - 4 else { return nil }
        guard size > 0 else {
            guard fields.quality < 255, let kept = keptTables[fields.quality] else { return nil }
            tables = (fields.quality, kept.precision, kept.bytes)
            return 4
        }
        guard let count = Self.count(precision, size), count > 0 else { return nil }
        let start = fields.end + 4
        if let tables, tables.precision == precision, tables.bytes.count == size,
            (0..<size).allSatisfy({ tables.bytes[$0] == payload[start + $0] })
        {
            self.tables?.quality = fields.quality
        } else {
            tables = (fields.quality, precision, (0..<size).map { payload[start + $0] })
        }
        if fields.quality < 255, let tables, keptTables[fields.quality]?.bytes != tables.bytes {
            keptTables[fields.quality] = (precision, tables.bytes)
        }
        return size + 4
    }

    /// Returns the number of tables in the given number of bytes, at most 4; nil if it is not a whole number.
    private static func count(_ precision: UInt8, _ size: Int) -> Int? {
        var (count, rest) = (0, size)
        while rest > 0, count < 4 {
            rest -= precision >> UInt8(count) & 1 == 1 ? 128 : 64
            count += 1
        }
        return rest == 0 ? count : nil
    }

    // MARK: The file's header

    /// Whether no part of the header has to be copied from the previous picture.
    ///
    /// With an extension, a quality of 0 means the previous picture's quantization tables, unless the extension has
    /// tables. Sides of 0 mean the previous picture's frame header. Huffman tables are always inherited.
    private mutating func isSelfContained(_ fields: Fields, _ markers: [UInt8]) -> Bool {
        guard hasExtension else { return true }
        if markers.contains(0xC4) {
            hasOwnHuffmanTables = true
        } else if hasOwnHuffmanTables {
            return false
        }
        if fields.quality == 0, !markers.contains(0xDB) { return false }
        return fields.width > 0 || fields.height > 0 || markers.contains(where: Self.isFrameHeader)
    }

    private static func isFrameHeader(_ marker: UInt8) -> Bool { (0xC0...0xC2).contains(marker) }

    private mutating func writeHeader(
        _ fields: Fields, _ markers: [UInt8], _ builder: inout AccessUnitBuilder
    ) -> Bool {
        if (1...99).contains(fields.quality), tables?.quality != fields.quality {
            tables = (fields.quality, 0, JPEGTables.quantizers(quality: Int(fields.quality)))
        }
        let isDerived = (1...99).contains(fields.quality) || fields.quality >= 128
        guard isDerived || fields.quality == 0 && hasExtension else { return false }
        // With quality 0, all tables are in the extension.
        let tables = isDerived ? tables : (0, 0, [])
        guard let tables else { return false }
        builder.append([0xFF, 0xD8] + Self.jfif(pixelHeight: content == .doubled ? 2 : 1))
        if content == .odd || content == .even { builder.append(Self.avi1(isTop: content == .even)) }
        if fields.restartInterval > 0, !markers.contains(0xDD) {
            let interval = fields.restartInterval
            builder.append([0xFF, 0xDD, 0, 4, UInt8(interval >> 8), UInt8(interval & 0xFF)])
        }
        var start = 0
        var count: UInt8 = 0
        while start < tables.bytes.count {
            let isWide = tables.precision >> count & 1
            let size = isWide == 1 ? 128 : 64
            builder.append([0xFF, 0xDB, 0, UInt8(size + 3), isWide << 4 | count])
            builder.append(Array(tables.bytes[start..<min(start + size, tables.bytes.count)]))
            start += size
            count += 1
        }
        if !markers.contains(where: Self.isFrameHeader) {
            guard let (width, height) = size(fields) else { return false }
            let chroma: UInt8 = count == 1 ? 0 : 1
            builder.append([0xFF, 0xC0, 0, 17, 8])
            builder.append([UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF), 3])
            builder.append([1, fields.type & 1 == 0 ? 0x21 : 0x22, 0, 2, 0x11, chroma, 3, 0x11, chroma])
        }
        builder.append(JPEGTables.huffman)
        builder.append(extensionSegments)
        if !markers.contains(0xDA) { builder.append([0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]) }
        return true
    }

    /// JFIF 1.02 means that the colours are YCbCr of full range, which RFC 2435 implies.
    private static func jfif(pixelHeight: UInt8) -> [UInt8] {
        [0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, pixelHeight, 0, 0]
    }

    /// The segment of a field. The polarity counts rows from 1, so that 1 has the top row.
    private static func avi1(isTop: Bool) -> [UInt8] {
        [0xFF, 0xE0, 0, 16, 0x41, 0x56, 0x49, 0x31, isTop ? 1 : 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// Returns the size of the picture. The fields hold multiples of eight pixels modulo 256, so for large sides a
    /// stated size that agrees with them is more exact.
    private func size(_ fields: Fields) -> (width: Int, height: Int)? {
        func side(_ field: Int, _ stated: Int?) -> Int? {
            guard let stated, (1...65535).contains(stated), field == 0 || (stated + 7) / 8 & 0xFF == field / 8 else {
                return field > 0 ? field : nil
            }
            return stated
        }
        guard let width = side(fields.width, statedSize?.width), let height = side(fields.height, statedSize?.height)
        else { return nil }
        return (width, height)
    }

    /// Returns the markers of segments, up to the first that is inconsistent.
    private static func markers(in segments: [UInt8]) -> [UInt8] {
        var markers: [UInt8] = []
        var index = 0
        while index + 3 < segments.count, segments[index] == 0xFF {
            // Fill bytes may precede a marker: JPEG, section B.1.1.2.
            guard segments[index + 1] != 0xFF else {
                index += 1
                continue
            }
            markers.append(segments[index + 1])
            index += 2 + (Int(segments[index + 2]) << 8 | Int(segments[index + 3]))
        }
        return markers
    }

    // MARK: The end

    /// Whether the last bytes are the marker of the picture's end.
    private func isWhole(_ builder: AccessUnitBuilder) -> Bool {
        scanSize >= 2 && builder.byte(at: builder.end - 2) == 0xFF && builder.byte(at: builder.end - 1) == 0xD9
    }

    private func noteHarmlessLoss(_ builder: inout AccessUnitBuilder) {
        builder.statistics.lostNonReference &+= 1
    }

    /// Begins a picture. A field whose other half is missing is dropped.
    private mutating func begin(_ content: Content, _ builder: inout AccessUnitBuilder) {
        if content != .even {
            dropKeptField(&builder)
            isFrameDropped = false
        }
        self.content = content
    }

    private mutating func dropKeptField(_ builder: inout AccessUnitBuilder) {
        guard isFieldKept else { return }
        (isFieldKept, isFrameDropped) = (false, true)
        drop(&builder)
    }

    /// Drops half a frame, whatever is done with damaged pictures: no decoder makes a whole one of it.
    private func drop(_ builder: inout AccessUnitBuilder) {
        builder.statistics.damagedUnits &+= 1
        builder.statistics.droppedUnits &+= 1
        builder.discard()
        noteHarmlessLoss(&builder)
    }

    private mutating func finish(_ builder: inout AccessUnitBuilder) {
        guard isOpen else { return }
        isOpen = false
        defer { reset() }
        if scanSize == 0 { isDamaged = true }
        if hasHeader, !isWhole(builder) { builder.append([0xFF, 0xD9]) }
        if content == .odd {
            (isFieldKept, isKeptDamaged) = (true, isDamaged)
            return
        }
        if content == .even {
            guard isFieldKept else { return isFrameDropped ? builder.discard() : drop(&builder) }
            isFieldKept = false
            isDamaged = isDamaged || isKeptDamaged
        }
        var facts = AccessUnitBuilder.Facts()
        facts.isKey = true
        facts.isIntra = true
        facts.isReference = false
        facts.isDamaged = isDamaged
        if !builder.finish(facts), isDamaged { noteHarmlessLoss(&builder) }
    }

    private mutating func reset() {
        extensionSegments.removeAll(keepingCapacity: true)
        hasExtension = false
        hasHeader = false
        scanSize = 0
        headersSize = 0
        isDamaged = false
    }

    mutating func end(_ builder: inout AccessUnitBuilder) {
        if isOpen, hasSeenMarker, !isWhole(builder) { isDamaged = true }
        finish(&builder)
        dropKeptField(&builder)
    }

    mutating func restart(_ builder: inout AccessUnitBuilder) {
        builder.discard()
        (isOpen, isFieldKept, isFrameDropped) = (false, false, false)
        reset()
    }
}
