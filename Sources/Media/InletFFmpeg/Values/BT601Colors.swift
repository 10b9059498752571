import InletCore

// Unsafe: converts planes through pointers.
/// Converts a picture's colours to BT.601, for codecs whose data cannot state its colours. JPEG has full range (JFIF
/// 1.02), VP8 limited range (RFC 6386, 9.2).
///
/// The difference of two matrices does not change grey, so chroma depends only on chroma, and luma on itself and on the
/// chroma at its place.
struct BT601Colors: Sendable, Equatable {
    /// The fixed-point numbers have this many fractional bits.
    private static let shift: Int32 = 14

    /// Luma is `newBlack + luma * (Y - black) + blueToLuma * (Cb - 128) + redToLuma * (Cr - 128)`, and so on.
    private let black, newBlack, luma: Int32
    private let blueToLuma, redToLuma, blue, redToBlue, red, blueToRed: Int16

    /// The colour space of the converted pictures.
    let colorSpace: ColorSpace

    /// Creates a conversion; nil if the colours are BT.601 in that range already.
    ///
    /// - Parameters:
    ///   - range: the target range; limited if it is unspecified.
    ///   - colorSpace: an unspecified range counts as limited; see ``ColorRange``. A matrix that is unspecified, or
    ///     not made of three weights, such as YCgCo's, counts as BT.601.
    init?(of range: ColorRange, from colorSpace: ColorSpace) {
        let (wasFull, isFull) = (colorSpace.range == .full, range == .full)
        let (red, blue) = Self.weights(colorSpace.matrix)
        guard wasFull != isFull || (red, blue) != Self.weights(.smpte170m) else { return nil }
        var new = colorSpace
        (new.matrix, new.range) = (.smpte170m, isFull ? .full : .limited)
        self.colorSpace = new
        let green = 1 - red - blue
        // BT.601 luma of the red, green and blue that correspond to luma 0 and a chroma of 1.
        func luma601(_ r: Double, _ g: Double, _ b: Double) -> Double { 0.299 * r + 0.587 * g + 0.114 * b }
        let ofRed = luma601(2 * (1 - red), -2 * red * (1 - red) / green, 0)
        let ofBlue = luma601(0, -2 * blue * (1 - blue) / green, 2 * (1 - blue))
        let chromaScale = (isFull ? 255.0 : 224) / (wasFull ? 255 : 224)
        // All are below 2.
        func fixed(_ value: Double) -> Int16 { Int16((value * Double(1 << Self.shift)).rounded()) }
        (black, newBlack) = (wasFull ? 0 : 16, isFull ? 0 : 16)
        luma = Int32(fixed((isFull ? 255.0 : 219) / (wasFull ? 255 : 219)))
        blueToLuma = fixed(chromaScale * ofBlue)
        redToLuma = fixed(chromaScale * ofRed)
        self.blue = fixed(chromaScale * (2 * (1 - blue) - ofBlue) / 1.772)
        redToBlue = fixed(chromaScale * -ofRed / 1.772)
        self.red = fixed(chromaScale * (2 * (1 - red) - ofRed) / 1.402)
        blueToRed = fixed(chromaScale * -ofBlue / 1.402)
    }

    /// Returns the weights of red and blue in luma: ITU-T H.273, table 4.
    private static func weights(_ matrix: ColorMatrix) -> (red: Double, blue: Double) {
        switch matrix {
        case .bt709: (0.2126, 0.0722)
        case .fcc: (0.30, 0.11)
        case .smpte240m: (0.212, 0.087)
        case .bt2020: (0.2627, 0.0593)
        default: (0.299, 0.114)
        }
    }

    /// Converts a picture.
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
        guard luma != 1 << Self.shift else {
            return shiftLuma(of: picture, into: &draft)
        }
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

    /// Converts luma if the range stays the same: the same is then added wherever the chroma is the same, once for two
    /// rows, and in loops that the compiler vectorises.
    private func shiftLuma(of picture: I420Buffer, into draft: inout I420Draft) {
        let (width, height, chroma) = (picture.size.width, picture.size.height, picture.size.chroma)
        let strides = (picture.strides, draft.strides)
        let y = unsafe picture.baseAddress(of: .y)
        let u = unsafe picture.baseAddress(of: .u)
        let v = unsafe picture.baseAddress(of: .v)
        let newY = unsafe draft.mutableBaseAddress(of: .y)
        let (ofBlue, ofRed) = (blueToLuma, redToLuma)
        unsafe withUnsafeTemporaryAllocation(of: Int16.self, capacity: chroma.width * 2) { shifts in
            guard let shifts = shifts.baseAddress else { return }
            for chromaRow in 0..<chroma.height {
                let (u, v) = unsafe (u + chromaRow * strides.0.u, v + chromaRow * strides.0.v)
                for column in 0..<chroma.width {
                    let (cb, cr) = unsafe (Self.centered(u[column]), Self.centered(v[column]))
                    let shift = Self.whole(Self.part(ofBlue, of: cb) &+ Self.part(ofRed, of: cr))
                    unsafe shifts[2 * column] = shift
                    unsafe shifts[2 * column + 1] = shift
                }
                for row in (2 * chromaRow)..<min(height, 2 * chromaRow + 2) {
                    let (from, to) = unsafe (y + row * strides.0.y, newY + row * strides.1.y)
                    for column in 0..<width {
                        let value = unsafe Int16(from[column]) &+ shifts[column]
                        unsafe to[column] = UInt8(truncatingIfNeeded: max(0, min(255, value)))
                    }
                }
            }
        }
        withExtendedLifetime(picture) {}
    }

    @unsafe private func convertChroma(
        _ u: UnsafePointer<UInt8>, _ v: UnsafePointer<UInt8>, _ newU: UnsafeMutablePointer<UInt8>,
        _ newV: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        for column in 0..<count {
            let (cb, cr) = unsafe (Self.centered(u[column]), Self.centered(v[column]))
            let newBlue = Self.whole(Self.part(blue, of: cb) &+ Self.part(redToBlue, of: cr))
            let newRed = Self.whole(Self.part(red, of: cr) &+ Self.part(blueToRed, of: cb))
            unsafe newU[column] = UInt8(truncatingIfNeeded: max(0, min(255, newBlue &+ 128)))
            unsafe newV[column] = UInt8(truncatingIfNeeded: max(0, min(255, newRed &+ 128)))
        }
    }

    // Chroma in 16 bits, of which processors handle twice as many at once as of 32: in units of 1/128, and after a
    // weight, all of which are below 2, of 1/32.

    private static func centered(_ chroma: UInt8) -> Int16 { (Int16(chroma) &- 128) &<< 7 }

    private static func part(_ weight: Int16, of chroma: Int16) -> Int16 {
        Int16(truncatingIfNeeded: (Int32(chroma) &* Int32(weight)) >> 16)
    }

    private static func whole(_ value: Int16) -> Int16 { (value &+ 16) >> 5 }

    @unsafe private func scaleLuma(_ y: UnsafePointer<UInt8>, _ newY: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for column in 0..<count {
            unsafe newY[column] = Self.byte(luma &* (Int32(y[column]) &- black), offset: newBlack)
        }
    }

    @unsafe private func convertLuma(
        _ y: UnsafePointer<UInt8>, _ u: UnsafePointer<UInt8>, _ v: UnsafePointer<UInt8>,
        _ newY: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        for column in 0..<count {
            let (cb, cr) = unsafe (Int32(u[column / 2]) &- 128, Int32(v[column / 2]) &- 128)
            let value = unsafe luma &* (Int32(y[column]) &- black) &+ Int32(blueToLuma) &* cb &+ Int32(redToLuma) &* cr
            unsafe newY[column] = Self.byte(value, offset: newBlack)
        }
    }

    private static func byte(_ value: Int32, offset: Int32) -> UInt8 {
        let rounded = ((value &+ (1 << (shift - 1))) >> shift) &+ offset
        return UInt8(truncatingIfNeeded: max(0, min(255, rounded)))
    }
}
