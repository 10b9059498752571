/// The shape of the pixels that an H.264 stream states in its first sequence parameter set (ITU-T H.264, E.1.1).
enum H264PixelShape {
    /// Returns whether parameter sets with start codes state pixels that are not square; false if they state no shape
    /// or cannot be read.
    static func isStretched(_ parameterSets: [UInt8]) -> Bool {
        for start in parameterSets.indices.dropLast(5) where parameterSets[start...].starts(with: [0, 0, 1]) {
            guard parameterSets[start + 3] & 0x1f == 7 else { continue }
            var reader = Reader(parameterSets[(start + 4)...].prefix(longest))
            return isStretched(&reader) && !reader.isExhausted
        }
        return false
    }

    /// The bytes that are read of a set. The shape is within the first 40 unless there are scaling lists.
    private static let longest = 512

    /// Reads a sequence parameter set after its header: 7.3.2.1.1.
    private static func isStretched(_ reader: inout Reader) -> Bool {
        let profile = reader.bits(8)
        _ = reader.bits(16)
        _ = reader.exponential()
        if ![66, 77, 88].contains(profile) {
            let chroma = reader.exponential()
            if chroma == 3 { _ = reader.bits(1) }
            _ = (reader.exponential(), reader.exponential())
            _ = reader.bits(1)
            if reader.bits(1) == 1 { skipScalingLists(chroma == 3 ? 12 : 8, &reader) }
        }
        _ = reader.exponential()
        skipPictureOrder(&reader)
        _ = reader.exponential()
        _ = reader.bits(1)
        _ = (reader.exponential(), reader.exponential())
        if reader.bits(1) == 0 { _ = reader.bits(1) }
        _ = reader.bits(1)
        if reader.bits(1) == 1 { for _ in 0..<4 { _ = reader.exponential() } }
        guard reader.bits(1) == 1, reader.bits(1) == 1 else { return false }
        let shape = reader.bits(8)
        // Table E-1.
        guard shape == 255 else { return (2...16).contains(shape) }
        let (width, height) = (reader.bits(16), reader.bits(16))
        return width != height && width > 0 && height > 0
    }

    private static func skipPictureOrder(_ reader: inout Reader) {
        switch reader.exponential() {
        case 0: _ = reader.exponential()
        case 1:
            _ = reader.bits(1)
            _ = (reader.exponential(), reader.exponential())
            for _ in 0..<min(reader.exponential(), 255) { _ = reader.exponential() }
        default: break
        }
    }

    /// Skips scaling lists: 7.3.2.1.1.1.
    private static func skipScalingLists(_ count: Int, _ reader: inout Reader) {
        for list in 0..<count where reader.bits(1) == 1 {
            var (last, next) = (8, 8)
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 {
                    let number = reader.exponential()
                    let change = number & 1 == 1 ? (number + 1) / 2 : -(number / 2)
                    next = (last + change) & 255
                }
                last = next == 0 ? last : next
            }
        }
    }

    /// Reads bits of a unit without its emulation prevention bytes (7.3.1). Beyond the end it reads zeros.
    private struct Reader {
        private var bytes: [UInt8] = []
        private var place = 0
        private(set) var isExhausted = false

        init(_ unit: ArraySlice<UInt8>) {
            for byte in unit where byte != 3 || bytes.suffix(2) != [0, 0] { bytes.append(byte) }
        }

        mutating func bits(_ count: Int) -> Int {
            var value = 0
            for _ in 0..<count {
                guard place < bytes.count * 8 else {
                    isExhausted = true
                    return 0
                }
                value = value << 1 | Int(bytes[place / 8] >> UInt8(7 - place % 8)) & 1
                place += 1
            }
            return value
        }

        /// Reads an unsigned Exp-Golomb number: 9.1.
        mutating func exponential() -> Int {
            var zeros = 0
            while bits(1) == 0 {
                zeros += 1
                guard zeros <= 32, !isExhausted else {
                    isExhausted = true
                    return 0
                }
            }
            return (1 << zeros) - 1 + bits(zeros)
        }
    }
}
