import InletCore

/// How to rewrite a picture whose layout no library here reads into one that they do.
enum PixelRepacking: Sendable, Hashable {
    /// Packed 4:2:2 as V Y U Y, which becomes `uyvy422`.
    case swappedChroma
    /// Luma and a plane of V and U at 4:2:2, which becomes `nv16`.
    case swappedChromaPlane
    /// 16-bit words with unused high bits, which become words with unused low bits.
    case widened(PixelFormat, shift: Int)
    /// One word a pixel with three components in it.
    case components(Word, isRGB: Bool)

    /// A pixel in 1 to 4 bytes: where its components are.
    struct Word: Sendable, Hashable {
        var bytes: Int
        var isBigEndian: Bool
        var first: Bits
        var second: Bits
        var third: Bits
    }

    /// The lowest bit of a component in its word, and how many it has, at most 8.
    struct Bits: Sendable, Hashable {
        var shift: Int
        var count: Int
    }

    /// Red, green and blue, which become `gbrp`.
    static func rgb(
        bytes: Int, isBigEndian: Bool = false, _ red: (Int, Int), _ green: (Int, Int), _ blue: (Int, Int)
    ) -> Self {
        // The planes of gbrp are green, blue and red.
        .components(word(bytes, isBigEndian, green, blue, red), isRGB: true)
    }

    /// Luma and chroma, which become `yuv444p`.
    static func yuv(bytes: Int, _ y: (Int, Int), _ u: (Int, Int), _ v: (Int, Int)) -> Self {
        .components(word(bytes, false, y, u, v), isRGB: false)
    }

    private static func word(
        _ bytes: Int, _ isBigEndian: Bool, _ first: (Int, Int), _ second: (Int, Int), _ third: (Int, Int)
    ) -> Word {
        Word(
            bytes: bytes, isBigEndian: isBigEndian, first: Bits(shift: first.0, count: first.1),
            second: Bits(shift: second.0, count: second.1), third: Bits(shift: third.0, count: third.1))
    }

    /// What the pictures become.
    var pixelFormat: PixelFormat {
        switch self {
        case .swappedChroma: .uyvy422
        case .swappedChromaPlane: PixelFormat("nv16")
        case .widened(let format, _): format
        case .components(_, let isRGB): isRGB ? PixelFormat("gbrp") : .yuv444p
        }
    }

    /// Where the planes of the new picture are, and how many bytes it takes.
    func layout(size: ImageSize) -> (planes: [(offset: Int, stride: Int)], byteCount: Int) {
        let stride: Int
        let count: Int
        switch self {
        case .swappedChroma: (stride, count) = (size.chroma.width * 4, 1)
        case .swappedChromaPlane: (stride, count) = (size.chroma.width * 2, 2)
        case .widened: (stride, count) = (size.width * 2, 1)
        case .components: (stride, count) = (size.width, 3)
        }
        return ((0..<count).map { ($0 * stride * size.height, stride) }, count * stride * size.height)
    }

    /// How many bytes a row of the driver's picture has, in each of its planes.
    func rowBytes(width: Int) -> Int {
        switch self {
        case .swappedChroma: (width + 1) / 2 * 4
        case .swappedChromaPlane: (width + 1) / 2 * 2
        case .widened: width * 2
        case .components(let word, _): width * word.bytes
        }
    }

    /// Rewrites one row.
    ///
    /// - Parameters:
    ///   - plane: the plane of the driver's picture that the row is of.
    ///   - source: at least ``rowBytes(width:)`` bytes.
    ///   - targets: the row in each plane of the new picture.
    @unsafe func repack(
        row source: UnsafeRawBufferPointer, plane: Int, width: Int, targets: [UnsafeMutableRawBufferPointer]
    ) {
        switch self {
        case .swappedChroma:
            for pair in stride(from: 0, to: rowBytes(width: width), by: 4) {
                unsafe targets[0][pair] = source[pair + 2]
                unsafe targets[0][pair + 1] = source[pair + 1]
                unsafe targets[0][pair + 2] = source[pair]
                unsafe targets[0][pair + 3] = source[pair + 3]
            }
        case .swappedChromaPlane:
            guard plane == 1 else { return unsafe targets[0].copyMemory(from: rebased(source, width)) }
            for pair in stride(from: 0, to: rowBytes(width: width), by: 2) {
                unsafe targets[1][pair] = source[pair + 1]
                unsafe targets[1][pair + 1] = source[pair]
            }
        case .widened(_, let shift):
            for index in 0..<width {
                let sample = unsafe UInt16(source[2 * index]) | UInt16(source[2 * index + 1]) << 8
                let wide = sample << UInt16(shift)
                unsafe targets[0][2 * index] = UInt8(truncatingIfNeeded: wide)
                unsafe targets[0][2 * index + 1] = UInt8(truncatingIfNeeded: wide >> 8)
            }
        case .components(let word, _):
            for index in 0..<width {
                var value: UInt32 = 0
                for byte in 0..<word.bytes {
                    let place = word.isBigEndian ? word.bytes - 1 - byte : byte
                    value |= unsafe UInt32(source[index * word.bytes + byte]) << UInt32(8 * place)
                }
                unsafe targets[0][index] = word.first.value(in: value)
                unsafe targets[1][index] = word.second.value(in: value)
                unsafe targets[2][index] = word.third.value(in: value)
            }
        }
    }

    @unsafe private func rebased(_ source: UnsafeRawBufferPointer, _ width: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: source[..<rowBytes(width: width)])
    }
}

extension PixelRepacking.Bits {
    /// The component of 8 bits: its own bits, and the highest of them again below, so that the greatest value stays the greatest.
    func value(in word: UInt32) -> UInt8 {
        let raw = word >> UInt32(shift) & ((1 << UInt32(count)) - 1)
        guard count < 8 else { return UInt8(truncatingIfNeeded: raw) }
        let high = raw << UInt32(8 - count)
        return UInt8(truncatingIfNeeded: high | high >> UInt32(count))
    }
}
