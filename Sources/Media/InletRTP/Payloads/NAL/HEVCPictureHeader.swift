/// The reference fields in the header of a picture's first slice segment: H.265, section 7.3.6.1.
struct HEVCPictureHeader {
    /// A picture that the decoder keeps for this one or for later ones.
    struct Reference {
        /// Relative to this picture's order count if `isRelative`; otherwise its low bits.
        var order: Int
        var isRelative: Bool
        /// Whether this picture itself may refer to it.
        var isUsed: Bool
    }

    /// The NAL unit's type: table 7-1.
    var type: Int
    /// The temporal layer, from 0.
    var layer: Int
    /// The low bits of the picture order count.
    var orderLowBits = 0
    var orderBits = 4
    /// All pictures that are kept, at most 64.
    var references: [Reference] = []

    /// Whether decoding may start at the picture.
    var isRandomAccess: Bool { (16...23).contains(type) }
    /// Whether nothing refers across the picture: IDR and BLA.
    var isClean: Bool { (16...20).contains(type) }
    var isCRA: Bool { type == 21 }
    /// Whether the picture precedes a CRA or BLA picture that it follows in the stream, and may refer to earlier ones.
    var isSkippedLeading: Bool { type == 8 || type == 9 }
    /// Whether the next pictures derive their order counts from this one's: section 8.3.1.
    var anchorsOrder: Bool { layer == 0 && !(6...9).contains(type) && (type > 15 || type & 1 == 1) }

    /// Reads a NAL unit.
    ///
    /// - Returns: nil if it is not a first slice segment of the base layer, or its parameter sets are unknown.
    init?(_ nal: RawSpan, _ sets: HEVCPictureSets) {
        guard nal.byteCount > 3, (nal[0] & 1) << 5 | nal[1] >> 3 == 0, nal[1] & 7 > 0 else { return nil }
        type = Int(nal[0] >> 1) & 0x3F
        layer = Int(nal[1] & 7) - 1
        var reader = BitReader(nal.extracting(2..<nal.byteCount))
        guard type < 32, reader.bit() == 1 else { return nil }
        if (16...23).contains(type) { _ = reader.bit() }
        guard let (picture, sequence) = sets.sets(ofPicture: reader.exponential()) else { return nil }
        _ = (reader.bits(picture.extraBits), reader.exponential())
        if picture.hasOutputFlag { _ = reader.bit() }
        if sequence.hasSeparatePlanes { _ = reader.bits(2) }
        orderBits = sequence.orderBits
        if type != 19, type != 20 {
            orderLowBits = reader.bits(orderBits)
            guard readShortTerm(sequence, &reader) else { return nil }
            if sequence.hasLongTerm { guard readLongTerm(sequence, &reader) else { return nil } }
        }
        if reader.isExhausted { return nil }
    }

    private mutating func readShortTerm(_ sequence: HEVCPictureSets.Sequence, _ reader: inout BitReader) -> Bool {
        let count = sequence.shortTerm.count
        let set: HEVCPictureSets.ShortTerm
        if reader.bit() == 0 {
            guard let own = HEVCPictureSets.shortTerm(count, of: count, sequence.shortTerm, &reader) else {
                return false
            }
            set = own
        } else {
            let index = reader.bits(Self.indexBits(count))
            guard sequence.shortTerm.indices.contains(index) else { return false }
            set = sequence.shortTerm[index]
        }
        for picture in set.before + set.after {
            references.append(Reference(order: picture.distance, isRelative: true, isUsed: picture.isUsed))
        }
        return true
    }

    /// Equations 7-52 and 8-5.
    private mutating func readLongTerm(_ sequence: HEVCPictureSets.Sequence, _ reader: inout BitReader) -> Bool {
        let known = sequence.longTerm.isEmpty ? 0 : reader.exponential()
        let own = reader.exponential()
        guard !reader.isExhausted, known <= 32, own <= 32 else { return false }
        var cycles = 0
        for index in 0..<known + own {
            var (order, isUsed) = (0, false)
            if index < known {
                let place = reader.bits(Self.indexBits(sequence.longTerm.count))
                guard sequence.longTerm.indices.contains(place) else { return false }
                (order, isUsed) = sequence.longTerm[place]
            } else {
                order = reader.bits(sequence.orderBits)
                isUsed = reader.bit() == 1
            }
            if index == known { cycles = 0 }
            let hasHighBits = reader.bit() == 1
            if hasHighBits { cycles += min(reader.exponential(), 1 << 16) }
            let distance = order - orderLowBits - cycles << orderBits
            references.append(
                Reference(order: hasHighBits ? distance : order, isRelative: hasHighBits, isUsed: isUsed))
        }
        return true
    }

    /// The number of bits of an index into this many entries: Ceil(Log2(count)).
    private static func indexBits(_ count: Int) -> Int {
        count > 1 ? Int.bitWidth - (count - 1).leadingZeroBitCount : 0
    }
}
