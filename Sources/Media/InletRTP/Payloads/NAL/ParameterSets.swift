/// The latest parameter sets of a stream of H.264 or H.265: at most 16 of each kind, each of at most 64 KiB.
struct ParameterSets {
    /// The kinds, in the order in which a decoder needs them.
    enum Kind: UInt8 { case video, sequence, picture }

    /// The fields of a sequence parameter set of H.264 needed to read a slice's header: section 7.3.2.1.1.
    struct Sequence {
        var id = 0
        var hasSeparatePlanes = false
        var frameNumberBits = 4
        var hasOnlyFrames = true
    }

    private struct Entry {
        var kind: Kind
        var id: Int
        /// With a start code of four bytes.
        var bytes: [UInt8]
    }
    private var entries: [Entry] = []
    private var sequences: [Sequence] = []
    // The sequence parameter set that each picture parameter set names.
    private var sequenceOfPicture: [(picture: Int, sequence: Int)] = []
    /// The fields of H.265 parameter sets about references of pictures.
    private(set) var references = HEVCPictureSets()
    /// The bytes of all of them, with start codes.
    private(set) var size = 0
    // Joined only when they are needed, so that a sender cannot make each set cost as much as all.
    private var joined: [UInt8]?
    /// Whether they changed and no unit has shown that yet.
    var isChanged = false

    private static let maximumSize = 64 << 10
    private static let maximumCount = 16
    private static let maximumTotal = 128 << 10

    /// Keeps one.
    ///
    /// - Returns: false if it is too large, one too many, or unreadable.
    mutating func keep(_ kind: Kind, _ nal: RawSpan, isHEVC: Bool) -> Bool {
        guard nal.byteCount <= Self.maximumSize else { return false }
        guard let id = isHEVC ? Self.hevcID(kind, nal) : readH264(kind, nal) else { return false }
        if let index = entries.firstIndex(where: { $0.kind == kind && $0.id == id }) {
            guard !Self.isSame(entries[index].bytes, nal) else { return true }
            let newSize = size - entries[index].bytes.count + nal.byteCount + 4
            guard newSize <= Self.maximumTotal else { return false }
            entries[index].bytes = Self.copy(nal)
            size = newSize
        } else {
            let count = entries.count { $0.kind == kind }
            guard count < Self.maximumCount, size + nal.byteCount + 4 <= Self.maximumTotal else { return false }
            size += nal.byteCount + 4
            let place = entries.firstIndex { $0.kind.rawValue > kind.rawValue } ?? entries.count
            entries.insert(Entry(kind: kind, id: id, bytes: Self.copy(nal)), at: place)
        }
        if isHEVC { references.keep(kind, id: id, nal) }
        joined = nil
        isChanged = true
        return true
    }

    /// All of them in the order in which a decoder needs them, with start codes.
    var annexB: [UInt8] { joined ?? entries.flatMap(\.bytes) }

    /// Makes ``annexB`` cheap until the next change.
    mutating func join() { if joined == nil { joined = annexB } }

    /// Returns the sequence parameter set that a picture parameter set of H.264 names.
    func sequence(ofPicture id: Int) -> Sequence? {
        guard let named = sequenceOfPicture.first(where: { $0.picture == id })?.sequence else { return nil }
        return sequences.first { $0.id == named }
    }

    private static func isSame(_ entry: [UInt8], _ nal: RawSpan) -> Bool {
        guard entry.count == nal.byteCount + 4 else { return false }
        for index in 0..<nal.byteCount where entry[index + 4] != nal[index] { return false }
        return true
    }

    private static func copy(_ nal: RawSpan) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 1]
        bytes.reserveCapacity(nal.byteCount + 4)
        for index in 0..<nal.byteCount { bytes.append(nal[index]) }
        return bytes
    }

    // MARK: Reading

    /// H.265, sections 7.3.2.1 to 7.3.2.3.
    private static func hevcID(_ kind: Kind, _ nal: RawSpan) -> Int? {
        guard nal.byteCount > 3 else { return nil }
        var reader = BitReader(nal.extracting(2..<nal.byteCount))
        switch kind {
        case .video: return reader.bits(4)
        case .picture:
            let id = reader.exponential()
            return reader.isExhausted ? nil : id
        case .sequence:
            guard let (_, skipped) = hevcLayers(&reader) else { return nil }
            for _ in 0..<skipped { _ = reader.bit() }
            let id = reader.exponential()
            return reader.isExhausted ? nil : id
        }
    }

    /// Skips the first fields of a sequence parameter set, and returns the number of temporal layers less one, and how
    /// many bits of the profiles and levels remain: H.265, section 7.3.3.
    static func hevcLayers(_ reader: inout BitReader) -> (subLayers: Int, bits: Int)? {
        _ = reader.bits(4)
        let subLayers = reader.bits(3)
        _ = reader.bit()
        // General profile of 88 bits and level of 8.
        for _ in 0..<12 { _ = reader.bits(8) }
        guard subLayers > 0 else { return reader.isExhausted ? nil : (0, 0) }
        var size = 0
        for index in 0..<8 {
            let (hasProfile, hasLevel) = (reader.bit(), reader.bit())
            if index < subLayers { size += hasProfile * 88 + hasLevel * 8 }
        }
        return reader.isExhausted ? nil : (subLayers, size)
    }

    private mutating func readH264(_ kind: Kind, _ nal: RawSpan) -> Int? {
        guard nal.byteCount > 1 else { return nil }
        var reader = BitReader(nal.extracting(1..<nal.byteCount))
        if kind == .picture {
            let (id, sequence) = (reader.exponential(), reader.exponential())
            guard !reader.isExhausted, id < 256, sequence < 32 else { return nil }
            sequenceOfPicture.removeAll { $0.picture == id }
            if sequenceOfPicture.count < Self.maximumCount { sequenceOfPicture.append((id, sequence)) }
            return id
        }
        guard let (sequence, isComplete) = Self.h264Sequence(&reader) else { return nil }
        sequences.removeAll { $0.id == sequence.id }
        // A set that cannot be read up to the needed field is ignored.
        if isComplete, sequences.count < Self.maximumCount { sequences.append(sequence) }
        return sequence.id
    }

    /// H.264, section 7.3.2.1.1.
    private static func h264Sequence(_ reader: inout BitReader) -> (Sequence, isComplete: Bool)? {
        var sequence = Sequence()
        let profile = reader.bits(8)
        _ = reader.bits(16)
        sequence.id = reader.exponential()
        guard !reader.isExhausted, sequence.id < 32 else { return nil }
        if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
            let chroma = reader.exponential()
            if chroma == 3 { sequence.hasSeparatePlanes = reader.bit() == 1 }
            _ = (reader.exponential(), reader.exponential(), reader.bit())
            if reader.bit() == 1 {
                for index in 0..<(chroma == 3 ? 12 : 8) where reader.bit() == 1 {
                    skipScalingList(index < 6 ? 16 : 64, &reader)
                }
            }
        }
        sequence.frameNumberBits = reader.exponential() + 4
        switch reader.exponential() {
        case 0: _ = reader.exponential()
        case 1:
            _ = (reader.bit(), reader.signedExponential(), reader.signedExponential())
            let count = reader.exponential()
            guard count < 256 else { return (sequence, false) }
            for _ in 0..<count { _ = reader.signedExponential() }
        default: break
        }
        _ = (reader.exponential(), reader.bit(), reader.exponential(), reader.exponential())
        sequence.hasOnlyFrames = reader.bit() == 1
        return (sequence, !reader.isExhausted && sequence.frameNumberBits <= 16)
    }

    /// H.264, section 7.3.2.1.1.1.
    private static func skipScalingList(_ size: Int, _ reader: inout BitReader) {
        var (last, next) = (8, 8)
        for _ in 0..<size {
            if next != 0 { next = (last &+ reader.signedExponential() &+ 256) & 255 }
            if next != 0 { last = next }
        }
    }
}
