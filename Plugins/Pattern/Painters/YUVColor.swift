import InletCore

/// A colour in limited-range YUV.
struct YUVColor: Sendable, Hashable {
    var y: UInt8
    var u: UInt8
    var v: UInt8

    static let black = gray(level: 0)
    static let white = gray(level: 1)

    /// Returns a grey: black at 0, white at 1. Values slightly below 0 and above 1 can be represented.
    static func gray(level: Double) -> YUVColor {
        YUVColor(y: UInt8((16 + 219 * level).rounded()), u: 128, v: 128)
    }

    init(y: UInt8, u: UInt8, v: UInt8) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// Creates a colour from gamma-corrected red, green and blue, each 0 to 1.
    ///
    /// The equations and the quantisation are those of ITU-R BT.709-6, items 3.2 to 3.5 and of BT.601-7, clauses 2.5.1
    /// to 2.5.3.
    init(red: Double, green: Double, blue: Double, matrix: ColorMatrix) {
        let (kr, kb) = matrix == .bt709 ? (0.2126, 0.0722) : (0.299, 0.114)
        let luma = kr * red + (1 - kr - kb) * green + kb * blue
        y = UInt8((16 + 219 * luma).rounded())
        u = UInt8((128 + 224 * (blue - luma) / (2 * (1 - kb))).rounded())
        v = UInt8((128 + 224 * (red - luma) / (2 * (1 - kr))).rounded())
    }
}
