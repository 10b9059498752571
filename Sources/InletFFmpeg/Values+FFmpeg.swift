package import CFFmpeg
package import InletCore

extension PixelFormat {
    /// The format by libavutil's name, or nil where the number is not one of its formats.
    package init?(_ format: AVPixelFormat) {
        guard let name = unsafe av_get_pix_fmt_name(format) else { return nil }
        unsafe self.init(String(cString: name))
    }
}

extension Rational {
    /// The ratio, or nil where libav* means "not known" by it: one that is not greater than zero. No rate, time base or
    /// shape of pixels is less.
    package init?(known ratio: AVRational) {
        guard ratio.num > 0, ratio.den > 0 else { return nil }
        self.init(exactly: Int(ratio.num), over: Int(ratio.den))
    }
}

extension AVRational {
    /// Lossless: both numbers of a `Rational` that came from libav* fit 32 bits.
    package init(_ rational: Rational) {
        self.init(num: Int32(clamping: rational.numerator), den: Int32(clamping: rational.denominator))
    }
}

extension AVColorRange {
    package init(_ range: ColorRange) {
        self =
            switch range {
            case .unspecified: AVCOL_RANGE_UNSPECIFIED
            case .limited: AVCOL_RANGE_MPEG
            case .full: AVCOL_RANGE_JPEG
            }
    }
}
