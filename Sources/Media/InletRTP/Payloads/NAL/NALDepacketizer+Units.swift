/// NAL units: their bounds, and the picture's bounds that a unit's first bytes imply.
extension NALDepacketizer {
    /// The role of a NAL unit in the bounds of pictures.
    private enum Role {
        /// It precedes the first slice of a picture: H.264 section 7.4.1.2.3, H.265 section 7.4.2.4.4.
        case pictureStart
        case slice(isFirst: Bool)
        /// It precedes a slice of the same picture or of the next.
        case prefix
        /// It belongs to the picture it follows.
        case continuation
    }

    private var headerSize: Int { isHEVC ? 2 : 1 }

    private var type: Int { Self.type(unit.head.0, isHEVC: isHEVC) }

    static func type(_ first: UInt8, isHEVC: Bool) -> Int { isHEVC ? Int(first >> 1) & 0x3F : Int(first & 0x1F) }

    static func isSlice(_ type: Int, isHEVC: Bool) -> Bool { isHEVC ? type < 32 : (1...5).contains(type) }

    private var role: Role {
        if isHEVC {
            // Other layers' units belong to the picture of the base layer.
            guard (unit.head.0 & 1) << 5 | unit.head.1 >> 3 == 0 else { return .continuation }
            switch type {
            case 0...21: return .slice(isFirst: unit.head.2 & 0x80 != 0)
            case 32...35, 39, 41...44, 48...55: return .pictureStart
            default: return .continuation
            }
        }
        switch type {
        case 1, 2, 5: return .slice(isFirst: unit.head.1 & 0x80 != 0)
        case 6...9, 15...18: return .pictureStart
        case 14: return .prefix
        default: return .continuation
        }
    }

    mutating func openUnit() {
        unit = Unit()
        unit.isOpen = true
    }

    /// Takes bytes of the open unit, and splits it at start codes, which may lie across two calls.
    mutating func feed(_ bytes: RawSpan, _ builder: inout AccessUnitBuilder) {
        var index = 0
        if unit.trailingZeros > 0 {
            var zeros = 0
            while zeros < bytes.byteCount, bytes[zeros] == 0 { zeros += 1 }
            if zeros < bytes.byteCount, bytes[zeros] == 1, zeros < 2, unit.trailingZeros + zeros >= 2 {
                split(&builder)
                index = zeros + 1
            }
        }
        while true {
            let code = bytes.startCode(from: index)
            put(bytes.extracting(index..<code), &builder)
            guard code < bytes.byteCount else { return }
            split(&builder)
            index = code + 3
        }
    }

    private mutating func split(_ builder: inout AccessUnitBuilder) {
        builder.statistics.startCodes &+= 1
        let isFragment = unit.isFragment
        unit.isFragment = false
        closeUnit(&builder)
        openUnit()
        unit.isFragment = isFragment
    }

    mutating func put(_ byte: UInt8, _ builder: inout AccessUnitBuilder) {
        unit.trailingZeros = byte == 0 ? min(unit.trailingZeros + 1, 3) : 0
        if unit.isWritten { return builder.append(byte) }
        switch unit.headCount {
        case 0: unit.head.0 = byte
        case 1: unit.head.1 = byte
        default: unit.head.2 = byte
        }
        unit.headCount += 1
        if unit.headCount > headerSize { write(&builder) }
    }

    private mutating func put(_ bytes: RawSpan, _ builder: inout AccessUnitBuilder) {
        var index = 0
        while index < bytes.byteCount, !unit.isWritten {
            put(bytes[index], &builder)
            index += 1
        }
        guard index < bytes.byteCount else { return }
        builder.append(bytes.extracting(index..<bytes.byteCount))
        var zeros = 0
        while zeros < 3, zeros < bytes.byteCount - index, bytes[bytes.byteCount - 1 - zeros] == 0 { zeros += 1 }
        unit.trailingZeros = zeros == bytes.byteCount - index ? min(unit.trailingZeros + zeros, 3) : zeros
    }

    /// Decides to which picture the unit belongs, and begins to write it.
    private mutating func write(_ builder: inout AccessUnitBuilder) {
        let role = role
        switch role {
        case .pictureStart where picture.hasSlice: endPicture(isHeld ? .marker : .pictureStart, &builder)
        case .slice(isFirst: true) where picture.hasSlice:
            endPicture(isHeld ? .marker : .pictureStart, upTo: picture.prefixStart, &builder)
        case .slice(isFirst: false):
            picture.prefixStart = nil
            if isHeld {
                isHeld = false
                builder.statistics.sliceMarkers &+= 1
                policy.noteSliceMarker()
            } else if picture.hasMarker, stream != nil || !policy.knowsMarkers {
                builder.statistics.sliceMarkers &+= 1
                policy.noteSliceMarker()
                picture.hasMarker = false
            }
            if !picture.hasSlice { noteMissingStart(&builder) }
        default: break
        }
        builder.open(timestamp: arrival.timestamp, at: arrival.time, headroom: sets.size + Self.endOfSequence.count)
        if stream?.isUncertain == true {
            picture.isDamaged = true
            picture.hasLossAtEdge = true
        }
        unit.start = builder.end
        if case .prefix = role, picture.hasSlice { picture.prefixStart = unit.start }
        if Self.isSlice(type, isHEVC: isHEVC) { noteSlice() }
        picture.nals += 1
        if picture.nals > builder.settings.maximumNALs { builder.refuse(\.tooLarge) }
        builder.appendStartCode()
        builder.append(unit.head.0)
        if unit.headCount > 1 { builder.append(unit.head.1) }
        if unit.headCount > 2 { builder.append(unit.head.2) }
        unit.isWritten = true
    }

    /// Ends the open unit, if there is one.
    mutating func closeUnit(_ builder: inout AccessUnitBuilder) {
        guard unit.isOpen else { return }
        if unit.isFragment { builder.statistics.fragmentsWithoutEnd &+= 1 }
        if !unit.isWritten {
            // The ends of sequence and stream have no content: H.264 section 7.3.2.5, H.265 section 7.3.2.6.
            let isWhole = isHEVC ? type == 36 || type == 37 : type == 10 || type == 11
            guard unit.headCount == headerSize, isWhole else {
                unit.isOpen = false
                return
            }
            write(&builder)
        }
        unit.isOpen = false
        // A NAL unit does not end with zeros: H.264 section 7.4.1, H.265 section 7.4.2.2.
        while builder.end > unit.start + 5, builder.byte(at: builder.end - 1) == 0 {
            builder.truncate(to: builder.end - 1)
        }
        inspectUnit(&builder)
    }
}
