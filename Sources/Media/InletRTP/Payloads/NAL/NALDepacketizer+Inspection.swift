/// The facts that NAL units state about their picture.
extension NALDepacketizer {
    /// Records the fields of a slice's NAL header.
    mutating func noteSlice() {
        if !picture.hasSlice, isHEVC { noteLayer() }
        picture.hasSlice = true
        noteReference(unit.head.0, unit.head.1)
        let type = Self.type(unit.head.0, isHEVC: isHEVC)
        // IDR of H.264; the intra random access points of H.265: section 7.4.2.2.
        if isHEVC ? (16...21).contains(type) : type == 5 { picture.isKey = true }
    }

    private mutating func noteLayer() {
        let layer = Int(unit.head.1 & 7)
        if layer > highestLayer {
            highestLayer = layer
            picturesAtLayer = 0
        }
        picturesAtLayer = min(picturesAtLayer + 1, 1000)
    }

    /// Records whether others refer to the picture, by the header of a NAL unit of it.
    ///
    /// In H.265 the even types up to 14 are not referred to within their temporal layer, so in the highest not at all:
    /// section 7.4.2.2. A layer counts as the highest if no higher one was seen for 32 pictures.
    mutating func noteReference(_ first: UInt8, _ second: UInt8) {
        let isReference: Bool?
        if isHEVC {
            let type = Self.type(first, isHEVC: true)
            let isHighest = Int(second & 7) >= highestLayer && picturesAtLayer >= 32
            isReference = type > 15 || type & 1 == 1 ? true : isHighest ? false : nil
        } else {
            isReference = first & 0x60 != 0
        }
        if picture.isReference != true { picture.isReference = isReference }
    }

    /// Reads the NAL unit that was just finished.
    mutating func inspectUnit(_ builder: inout AccessUnitBuilder) {
        guard let first = builder.byte(at: unit.start + 4) else { return }
        let range = unit.start + 4..<builder.end
        let type = Self.type(first, isHEVC: isHEVC)
        if Self.isSlice(type, isHEVC: isHEVC) {
            picture.slices += 1
            if isHEVC, picture.header == nil {
                let sets = sets.references
                // A header names at most 64 pictures, which take less.
                picture.header = builder.read(range.prefix(1024)) { HEVCPictureHeader($0, sets) } ?? nil
            }
            if !isHEVC, type == 1 || type == 5 { inspectSlice(range, builder) }
            return
        }
        switch (isHEVC, type) {
        case (false, 6), (true, 39): inspectMessages(range, builder)
        case (true, 32): keep(.video, range, &builder)
        case (false, 7), (true, 33): keep(.sequence, range, &builder)
        case (false, 8), (true, 34): keep(.picture, range, &builder)
        case (false, 9), (true, 35):
            if unit.start == builder.start { picture.delimiterSize = builder.count }
        default: break
        }
    }

    private mutating func keep(_ kind: ParameterSets.Kind, _ range: Range<Int>, _ builder: inout AccessUnitBuilder) {
        picture.kinds |= 1 << kind.rawValue
        let isHEVC = isHEVC
        var sets = sets
        // Otherwise the copy above would be a second owner of the arrays, and each change would copy them.
        self.sets = ParameterSets()
        let isKept = builder.read(range) { sets.keep(kind, $0, isHEVC: isHEVC) } ?? true
        self.sets = sets
        if !isKept { builder.statistics.refusedParameterSets &+= 1 }
    }

    /// Reads the first fields of a slice's header: H.264, section 7.3.3.
    private mutating func inspectSlice(_ range: Range<Int>, _ builder: AccessUnitBuilder) {
        let needsNumber = picture.number == nil
        let sets = sets
        let found = builder.read(range.prefix(64)) { bytes -> (isIntra: Bool, number: ReferenceTracker.Number?)? in
            guard bytes.byteCount > 1 else { return nil }
            var reader = BitReader(bytes.extracting(1..<bytes.byteCount))
            _ = reader.exponential()
            let kind = reader.exponential() % 5
            let id = reader.exponential()
            guard !reader.isExhausted else { return nil }
            // 2 is I, 4 is SI: table 7-6.
            let isIntra = kind == 2 || kind == 4
            guard needsNumber, let sequence = sets.sequence(ofPicture: id) else { return (isIntra, nil) }
            if sequence.hasSeparatePlanes { _ = reader.bits(2) }
            let value = reader.bits(sequence.frameNumberBits)
            let isField = !sequence.hasOnlyFrames && reader.bit() == 1
            guard !reader.isExhausted else { return (isIntra, nil) }
            return (isIntra, .init(value: value, modulus: 1 << sequence.frameNumberBits, isField: isField))
        }
        guard let found = found ?? nil else { return }
        picture.isIntra = (picture.isIntra ?? true) && found.isIntra
        if needsNumber { picture.number = found.number }
    }

    /// Looks for a recovery point among the messages of an SEI unit: H.264 sections 7.3.2.3.1 and D.1.8, H.265 sections
    /// 7.3.5 and D.2.8.
    private mutating func inspectMessages(_ range: Range<Int>, _ builder: AccessUnitBuilder) {
        let isHEVC = isHEVC
        // Messages of users may be long; a recovery point precedes them.
        let frames = builder.read(range.prefix(2048)) { bytes -> Int? in
            guard bytes.byteCount > (isHEVC ? 2 : 1) else { return nil }
            var reader = BitReader(bytes.extracting((isHEVC ? 2 : 1)..<bytes.byteCount))
            while !reader.isExhausted {
                var numbers = (type: 0, size: 0)
                var byte = reader.bits(8)
                while byte == 255, !reader.isExhausted {
                    numbers.type += 255
                    byte = reader.bits(8)
                }
                numbers.type += byte
                byte = reader.bits(8)
                while byte == 255, !reader.isExhausted {
                    numbers.size += 255
                    byte = reader.bits(8)
                }
                numbers.size += byte
                if numbers.type == 6, numbers.size > 0 {
                    let frames = isHEVC ? max(0, reader.signedExponential()) : reader.exponential()
                    return reader.isExhausted ? nil : frames
                }
                guard numbers.size <= bytes.byteCount else { return nil }
                for _ in 0..<numbers.size { _ = reader.bits(8) }
            }
            return nil
        }
        if let frames = frames ?? nil { picture.recoveryFrames = frames }
    }
}
