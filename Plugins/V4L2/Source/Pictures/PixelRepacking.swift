import InletCore

// Unsafe: rewrites rows of a picture through pointers.
/// The way to rewrite a picture whose layout no library here supports into a supported one.
enum PixelRepacking: Sendable, Hashable {
    /// Packed 4:2:2 as V Y U Y, which becomes `uyvy422`.
    case swappedChroma
    /// Luma, and one plane of both chroma components at 4:2:2, which becomes `yuv422p`: libswscale does not read
    /// `nv16`.
    case splitChroma(isVFirst: Bool)
    /// 16-bit words with unused high bits, which become words with unused low bits.
    case widened(PixelFormat, shift: Int)
    /// A word per pixel that contains three components.
    case components(Word, isRGB: Bool)

    /// A pixel in 1 to 4 bytes, and the position of its components.
    struct Word: Sendable, Hashable {
        var bytes: Int
        var isBigEndian: Bool
        var first: Bits
        var second: Bits
        var third: Bits
    }

    /// The lowest bit of a component in its word, and the number of its bits, at most 8.
    struct Bits: Sendable, Hashable {
        var shift: Int
        var count: Int
    }

    /// Returns the repacking of red, green and blue to `gbrp`.
    static func rgb(
        bytes: Int, isBigEndian: Bool = false, _ red: (Int, Int), _ green: (Int, Int), _ blue: (Int, Int)
    ) -> Self {
        // The planes of gbrp are green, blue and red.
        .components(word(bytes, isBigEndian, green, blue, red), isRGB: true)
    }

    /// Returns the repacking of luma and chroma to `yuv444p`.
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

    /// The pixel format of the rewritten pictures.
    var pixelFormat: PixelFormat {
        switch self {
        case .swappedChroma: .uyvy422
        case .splitChroma: .yuv422p
        case .widened(let format, _): format
        case .components(_, let isRGB): isRGB ? PixelFormat("gbrp") : .yuv444p
        }
    }

    /// Whether the driver's picture has a second plane after luma.
    var isSemiplanar: Bool {
        if case .splitChroma = self { true } else { false }
    }

    /// Returns the offsets and strides of the new picture's planes, and the size of the picture in bytes.
    func layout(size: ImageSize) -> (planes: [(offset: Int, stride: Int)], byteCount: Int) {
        let strides =
            switch self {
            case .swappedChroma: [size.chroma.width * 4]
            case .splitChroma: [size.width, size.chroma.width, size.chroma.width]
            case .widened: [size.width * 2]
            case .components: [size.width, size.width, size.width]
            }
        var planes: [(offset: Int, stride: Int)] = []
        var end = 0
        for stride in strides {
            planes.append((end, stride))
            end += stride * size.height
        }
        return (planes, end)
    }

    /// Returns the number of bytes in a row of each plane of the driver's picture.
    func rowBytes(width: Int) -> Int {
        switch self {
        case .swappedChroma: (width + 1) / 2 * 4
        case .splitChroma: (width + 1) / 2 * 2
        case .widened: width * 2
        case .components(let word, _): width * word.bytes
        }
    }

    /// Rewrites one row.
    ///
    /// - Parameters:
    ///   - plane: the plane of the driver's picture that contains the row.
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
        case .splitChroma(let isVFirst):
            guard plane == 1 else {
                return unsafe targets[0].copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<width]))
            }
            let (u, v) = unsafe isVFirst ? (targets[2], targets[1]) : (targets[1], targets[2])
            for index in 0..<(width + 1) / 2 {
                unsafe u[index] = source[2 * index]
                unsafe v[index] = source[2 * index + 1]
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
}

extension PixelRepacking.Bits {
    /// Returns the component as 8 bits: its own bits, followed by its highest bits again, so that the maximum stays
    /// the maximum.
    func value(in word: UInt32) -> UInt8 {
        let raw = word >> UInt32(shift) & ((1 << UInt32(count)) - 1)
        guard count < 8 else { return UInt8(truncatingIfNeeded: raw) }
        let high = raw << UInt32(8 - count)
        return UInt8(truncatingIfNeeded: high | high >> UInt32(count))
    }
}
