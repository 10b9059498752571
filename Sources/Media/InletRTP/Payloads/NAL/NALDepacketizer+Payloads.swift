/// The payload structures of RFC 6184 and RFC 7798.
extension NALDepacketizer {
    /// Whether the payload begins with a start code, which payloads must not, and some senders' do.
    private static func isAnnexB(_ payload: RawSpan) -> Bool {
        guard payload.byteCount > 4, payload[0] == 0, payload[1] == 0 else { return false }
        return payload[2] == 1 || (payload[2] == 0 && payload[3] == 1)
    }

    // MARK: H.264: RFC 6184, section 5.2

    mutating func addH264(_ payload: RawSpan, _ builder: inout AccessUnitBuilder) {
        switch payload[0] & 0x1F {
        case 1...23: addWhole(payload, &builder)
        case 24:
            closeUnit(&builder)
            addAggregate(payload, from: 1, orderSize: 0, &builder)
        case 28: addH264Fragment(payload, headerSize: 2, &builder)
        // FU-B has a decoding order number after its header: section 5.8.
        case 29: addH264Fragment(payload, headerSize: 4, &builder)
        case 0 where Self.isAnnexB(payload): addWhole(payload, &builder)
        // STAP-B, MTAP16 and MTAP24 need the interleaved mode.
        default: builder.statistics.unsupported &+= 1
        }
    }

    /// Section 5.8.
    private mutating func addH264Fragment(
        _ payload: RawSpan, headerSize: Int, _ builder: inout AccessUnitBuilder
    ) {
        guard payload.byteCount >= headerSize else {
            builder.statistics.malformed &+= 1
            return
        }
        let header = payload[0] & 0xE0 | payload[1] & 0x1F
        let content = payload.extracting(headerSize..<payload.byteCount)
        addFragment((header, 0), flags: payload[1], type: Int(header & 0x1F), content, &builder)
    }

    // MARK: H.265: RFC 7798, section 4.4

    mutating func addHEVC(_ payload: RawSpan, _ builder: inout AccessUnitBuilder) {
        guard payload.byteCount >= 2 else {
            builder.statistics.malformed &+= 1
            return
        }
        let type = Int(payload[0] >> 1) & 0x3F
        switch type {
        case _ where Self.isAnnexB(payload): addWhole(payload, &builder)
        case 0..<48:
            guard usesDONL else { return addWhole(payload, &builder) }
            guard payload.byteCount > 4 else {
                builder.statistics.malformed &+= 1
                return
            }
            closeUnit(&builder)
            openUnit()
            feed(payload.extracting(0..<2), &builder)
            feed(payload.extracting(4..<payload.byteCount), &builder)
            closeUnit(&builder)
        case 48:
            closeUnit(&builder)
            addAggregate(payload, from: 2, orderSize: usesDONL ? 2 : 0, &builder)
        case 49:
            // Section 4.4.3: the decoding order number is in the first fragment only.
            let isFirst = payload.byteCount > 2 && payload[2] & 0x80 != 0
            let headerSize = usesDONL && isFirst ? 5 : 3
            guard payload.byteCount >= headerSize else {
                builder.statistics.malformed &+= 1
                return
            }
            let fragmentType = payload[2] & 0x3F
            addFragment(
                (payload[0] & 0x81 | fragmentType << 1, payload[1]), flags: payload[2], type: Int(fragmentType),
                payload.extracting(headerSize..<payload.byteCount), &builder)
        default: builder.statistics.unsupported &+= 1
        }
    }

    // MARK: Both

    private mutating func addWhole(_ payload: RawSpan, _ builder: inout AccessUnitBuilder) {
        closeUnit(&builder)
        openUnit()
        feed(payload, &builder)
        closeUnit(&builder)
    }

    /// Reads NAL units with sizes of two bytes: RFC 6184 section 5.7.1, RFC 7798 section 4.4.2.
    ///
    /// - Parameter orderSize: the size of the order number in front of the first unit; the others' have one byte less.
    private mutating func addAggregate(
        _ payload: RawSpan, from start: Int, orderSize: Int, _ builder: inout AccessUnitBuilder
    ) {
        var index = start + orderSize
        while index < payload.byteCount {
            let rest = payload.byteCount - index
            let size = rest >= 2 ? Int(payload.bigEndian16(at: index)) : 0
            guard size > 0, size <= rest - 2 else {
                // Some senders pad with zeros.
                var isPadding = size == 0
                for place in index..<payload.byteCount where payload[place] != 0 { isPadding = false }
                if !isPadding { noteMalformed(&builder) }
                return
            }
            addWhole(payload.extracting(index + 2..<index + 2 + size), &builder)
            index += 2 + size + max(0, orderSize - 1)
        }
    }

    /// A part of an aggregate cannot be read, so its content is missing.
    private mutating func noteMalformed(_ builder: inout AccessUnitBuilder) {
        builder.statistics.malformed &+= 1
        if picture.hasSlice { picture.isDamaged = true }
    }

    private mutating func addFragment(
        _ header: (UInt8, UInt8), flags: UInt8, type: Int, _ content: RawSpan, _ builder: inout AccessUnitBuilder
    ) {
        let (isFirst, isLast) = (flags & 0x80 != 0, flags & 0x40 != 0)
        if isFirst {
            closeUnit(&builder)
            if isLast { builder.statistics.wholeFragments &+= 1 }
            openUnit()
            unit.isFragment = true
            put(header.0, &builder)
            if isHEVC { put(header.1, &builder) }
        } else if !(unit.isOpen && unit.isFragment) {
            closeUnit(&builder)
            return dropFragment(header.0, type: type, &builder)
        }
        unit.hasMarker = false
        feed(content, &builder)
        if isLast {
            unit.isFragment = false
            closeUnit(&builder)
        }
    }
}
