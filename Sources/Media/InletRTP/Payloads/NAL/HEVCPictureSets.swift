/// The fields of parameter sets of H.265 that describe the references of pictures.
struct HEVCPictureSets {
    /// A short-term reference picture set: section 7.4.8. Distances in picture order count, and whether the picture
    /// itself refers to the one there, rather than only later ones.
    struct ShortTerm {
        var before: [(distance: Int, isUsed: Bool)] = []
        var after: [(distance: Int, isUsed: Bool)] = []
        var count: Int { before.count + after.count }
    }

    /// The needed fields of a sequence parameter set: section 7.3.2.2.1.
    struct Sequence {
        var id = 0
        var hasSeparatePlanes = false
        var orderBits = 4
        var shortTerm: [ShortTerm] = []
        var hasLongTerm = false
        /// The long-term reference pictures that slices may name by an index: the low bits of their order counts.
        var longTerm: [(order: Int, isUsed: Bool)] = []
    }

    /// The needed fields of a picture parameter set: section 7.3.2.3.1.
    struct Picture {
        var id = 0
        var sequence = 0
        var hasOutputFlag = false
        var extraBits = 0
    }

    private var sequences: [Sequence] = []
    private var pictures: [Picture] = []

    private static let most = 16

    /// Returns the parameter sets of a picture; nil if they are unknown.
    func sets(ofPicture id: Int) -> (picture: Picture, sequence: Sequence)? {
        guard let picture = pictures.first(where: { $0.id == id }),
            let sequence = sequences.first(where: { $0.id == picture.sequence })
        else { return nil }
        return (picture, sequence)
    }

    /// Keeps the fields of a parameter set; nothing of one that cannot be read.
    mutating func keep(_ kind: ParameterSets.Kind, id: Int, _ nal: RawSpan) {
        guard nal.byteCount > 3 else { return }
        var reader = BitReader(nal.extracting(2..<nal.byteCount))
        switch kind {
        case .video: break
        case .sequence:
            sequences.removeAll { $0.id == id }
            guard let sequence = Self.sequence(&reader), sequence.id == id, sequences.count < Self.most else { return }
            sequences.append(sequence)
        case .picture:
            pictures.removeAll { $0.id == id }
            var picture = Picture(id: reader.exponential(), sequence: reader.exponential())
            _ = reader.bit()
            picture.hasOutputFlag = reader.bit() == 1
            picture.extraBits = reader.bits(3)
            guard !reader.isExhausted, picture.id == id, pictures.count < Self.most else { return }
            pictures.append(picture)
        }
    }

    // MARK: Reading

    private static func sequence(_ reader: inout BitReader) -> Sequence? {
        var sequence = Sequence()
        guard let (subLayers, skipped) = ParameterSets.hevcLayers(&reader) else { return nil }
        for _ in 0..<skipped { _ = reader.bit() }
        sequence.id = reader.exponential()
        if reader.exponential() == 3 { sequence.hasSeparatePlanes = reader.bit() == 1 }
        _ = (reader.exponential(), reader.exponential())
        if reader.bit() == 1 { for _ in 0..<4 { _ = reader.exponential() } }
        _ = (reader.exponential(), reader.exponential())
        sequence.orderBits = reader.exponential() + 4
        guard !reader.isExhausted, sequence.orderBits <= 16 else { return nil }
        for _ in (reader.bit() == 1 ? 0 : subLayers)...subLayers {
            _ = (reader.exponential(), reader.exponential(), reader.exponential())
        }
        // The sizes of coding and transform blocks, and the depths of their hierarchies.
        for _ in 0..<6 { _ = reader.exponential() }
        if reader.bit() == 1, reader.bit() == 1 { skipScalingLists(&reader) }
        _ = (reader.bit(), reader.bit())
        if reader.bit() == 1 {
            _ = (reader.bits(8), reader.exponential(), reader.exponential(), reader.bit())
        }
        let count = reader.exponential()
        guard !reader.isExhausted, count <= 64 else { return nil }
        for index in 0..<count {
            guard let set = shortTerm(index, of: count, sequence.shortTerm, &reader) else { return nil }
            sequence.shortTerm.append(set)
        }
        sequence.hasLongTerm = reader.bit() == 1
        if sequence.hasLongTerm {
            let count = reader.exponential()
            guard !reader.isExhausted, count <= 32 else { return nil }
            for _ in 0..<count { sequence.longTerm.append((reader.bits(sequence.orderBits), reader.bit() == 1)) }
        }
        return reader.isExhausted ? nil : sequence
    }

    /// Section 7.3.4.
    private static func skipScalingLists(_ reader: inout BitReader) {
        for size in 0..<4 {
            for _ in 0..<(size == 3 ? 2 : 6) {
                guard reader.bit() == 1 else {
                    _ = reader.exponential()
                    continue
                }
                if size > 1 { _ = reader.signedExponential() }
                for _ in 0..<min(64, 16 << (2 * size)) { _ = reader.signedExponential() }
            }
        }
    }

    /// Reads a short-term reference picture set: section 7.3.7. At most 16 pictures each way count.
    ///
    /// - Parameters:
    ///   - index: its place among those of the sequence; their count for one in a slice's header.
    ///   - known: the ones before it.
    static func shortTerm(
        _ index: Int, of count: Int, _ known: [ShortTerm], _ reader: inout BitReader
    ) -> ShortTerm? {
        guard index > 0, reader.bit() == 1 else { return explicitShortTerm(&reader) }
        let back = index == count ? reader.exponential() + 1 : 1
        let isNegative = reader.bit() == 1
        let distance = (reader.exponential() + 1) * (isNegative ? -1 : 1)
        guard !reader.isExhausted, index - back >= 0, known.indices.contains(index - back), abs(distance) <= 1 << 15
        else { return nil }
        let base = known[index - back]
        // For each picture of the base, and for the base's own picture: whether it is used, and whether it is in the
        // set.
        var flags: [(isUsed: Bool, isIn: Bool)] = []
        for _ in 0...base.count {
            let isUsed = reader.bit() == 1
            flags.append((isUsed, isUsed || reader.bit() == 1))
        }
        var set = ShortTerm()
        func add(_ distance: Int, _ place: Int, isAfter: Bool) {
            guard flags[place].isIn, isAfter ? distance > 0 : distance < 0 else { return }
            if isAfter {
                set.after.append((distance, flags[place].isUsed))
            } else {
                set.before.append((distance, flags[place].isUsed))
            }
        }
        // Equations 7-61 and 7-62.
        for isAfter in [false, true] {
            let (far, near) = isAfter ? (base.before, base.after) : (base.after, base.before)
            let (farPlace, nearPlace) = isAfter ? (0, base.before.count) : (base.before.count, 0)
            for place in far.indices.reversed() {
                add(far[place].distance + distance, farPlace + place, isAfter: isAfter)
            }
            add(distance, base.count, isAfter: isAfter)
            for place in near.indices { add(near[place].distance + distance, nearPlace + place, isAfter: isAfter) }
        }
        guard !reader.isExhausted, set.before.count <= 16, set.after.count <= 16 else { return nil }
        return set
    }

    private static func explicitShortTerm(_ reader: inout BitReader) -> ShortTerm? {
        let (before, after) = (reader.exponential(), reader.exponential())
        guard !reader.isExhausted, before <= 16, after <= 16 else { return nil }
        var set = ShortTerm()
        var distance = 0
        for _ in 0..<before {
            distance -= min(reader.exponential(), 1 << 15) + 1
            set.before.append((distance, reader.bit() == 1))
        }
        distance = 0
        for _ in 0..<after {
            distance += min(reader.exponential(), 1 << 15) + 1
            set.after.append((distance, reader.bit() == 1))
        }
        return reader.isExhausted ? nil : set
    }
}
