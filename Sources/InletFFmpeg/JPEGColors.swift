import InletCore

/// How numbers of some colour become those that a JPEG holds: BT.601 and full range, as JFIF 1.02 lays down.
///
/// The difference of two matrices leaves grey alone, so chroma is made of chroma only, and luma of itself and of the chroma below it.
struct JPEGColors: Sendable, Equatable {
    /// Parts of a whole in fixed-point numbers.
    private static let shift: Int32 = 14

    /// Luma is `luma * (Y - black) + blueToLuma * (Cb - 128) + redToLuma * (Cr - 128)`, and so on.
    private let black, luma, blueToLuma, redToLuma: Int32
    private let blue, redToBlue, red, blueToRed: Int32

    /// Nil where the numbers are those of a JPEG already.
    ///
    /// - Parameter colorSpace: an unspecified range counts as limited, as ``ColorRange`` says, and an unspecified matrix as BT.601. So does
    ///   one that is not made of three weights, such as that of YCgCo.
    init?(_ colorSpace: ColorSpace) {
        let isFull = colorSpace.range == .full
        let (red, blue) = Self.weights(colorSpace.matrix)
        guard !isFull || (red, blue) != Self.weights(.smpte170m) else { return nil }
        let green = 1 - red - blue
        // Luma of BT.601 from the red, green and blue that luma 0 with a chroma of 1 stands for.
        func luma601(_ r: Double, _ g: Double, _ b: Double) -> Double { 0.299 * r + 0.587 * g + 0.114 * b }
        let ofRed = luma601(2 * (1 - red), -2 * red * (1 - red) / green, 0)
        let ofBlue = luma601(0, -2 * blue * (1 - blue) / green, 2 * (1 - blue))
        let chromaScale = isFull ? 1.0 : 255.0 / 224
        func fixed(_ value: Double) -> Int32 { Int32((value * Double(1 << Self.shift)).rounded()) }
        black = isFull ? 0 : 16
        luma = fixed(isFull ? 1 : 255.0 / 219)
        blueToLuma = fixed(chromaScale * ofBlue)
        redToLuma = fixed(chromaScale * ofRed)
        self.blue = fixed(chromaScale * (2 * (1 - blue) - ofBlue) / 1.772)
        redToBlue = fixed(chromaScale * -ofRed / 1.772)
        self.red = fixed(chromaScale * (2 * (1 - red) - ofRed) / 1.402)
        blueToRed = fixed(chromaScale * -ofBlue / 1.402)
    }

    /// The weights of red and blue in luma: ITU-T H.273, table 4.
    private static func weights(_ matrix: ColorMatrix) -> (red: Double, blue: Double) {
        switch matrix {
        case .bt709: (0.2126, 0.0722)
        case .fcc: (0.30, 0.11)
        case .smpte240m: (0.212, 0.087)
        case .bt2020: (0.2627, 0.0593)
        default: (0.299, 0.114)
        }
    }

    /// Writes the picture in colours of a JPEG.
    func convert(_ picture: I420Buffer, into draft: inout I420Draft) {
        let (width, chroma) = (picture.size.width, picture.size.chroma)
        let strides = (picture.strides, draft.strides)
        let u = unsafe picture.baseAddress(of: .u)
        let v = unsafe picture.baseAddress(of: .v)
        let newU = unsafe draft.mutableBaseAddress(of: .u)
        let newV = unsafe draft.mutableBaseAddress(of: .v)
        for row in 0..<chroma.height {
            unsafe convertChroma(
                u + row * strides.0.u, v + row * strides.0.v, newU + row * strides.1.u, newV + row * strides.1.v,
                chroma.width)
        }
        let y = unsafe picture.baseAddress(of: .y)
        let newY = unsafe draft.mutableBaseAddress(of: .y)
        for row in 0..<picture.size.height {
            let (from, to) = unsafe (y + row * strides.0.y, newY + row * strides.1.y)
            if blueToLuma == 0, redToLuma == 0 {
                unsafe scaleLuma(from, to, width)
            } else {
                unsafe convertLuma(from, u + row / 2 * strides.0.u, v + row / 2 * strides.0.v, to, width)
            }
        }
        withExtendedLifetime(picture) {}
    }

    @unsafe private func convertChroma(
        _ u: UnsafePointer<UInt8>, _ v: UnsafePointer<UInt8>, _ newU: UnsafeMutablePointer<UInt8>,
        _ newV: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        for column in 0..<count {
            let (cb, cr) = unsafe (Int32(u[column]) &- 128, Int32(v[column]) &- 128)
            unsafe newU[column] = Self.byte(blue &* cb &+ redToBlue &* cr, offset: 128)
            unsafe newV[column] = Self.byte(red &* cr &+ blueToRed &* cb, offset: 128)
        }
    }

    @unsafe private func scaleLuma(_ y: UnsafePointer<UInt8>, _ newY: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for column in 0..<count { unsafe newY[column] = Self.byte(luma &* (Int32(y[column]) &- black), offset: 0) }
    }

    @unsafe private func convertLuma(
        _ y: UnsafePointer<UInt8>, _ u: UnsafePointer<UInt8>, _ v: UnsafePointer<UInt8>,
        _ newY: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        for column in 0..<count {
            let (cb, cr) = unsafe (Int32(u[column / 2]) &- 128, Int32(v[column / 2]) &- 128)
            let value = unsafe luma &* (Int32(y[column]) &- black) &+ blueToLuma &* cb &+ redToLuma &* cr
            unsafe newY[column] = Self.byte(value, offset: 0)
        }
    }

    private static func byte(_ value: Int32, offset: Int32) -> UInt8 {
        let rounded = ((value &+ (1 << (shift - 1))) >> shift) &+ offset
        return UInt8(truncatingIfNeeded: max(0, min(255, rounded)))
    }
}
