package import CFFmpeg
package import InletCore

// Unsafe: reads libavutil's names of pixel formats.
extension PixelFormat {
    /// Creates the format from libavutil's name, or nil if the number is not one of its formats.
    package init?(_ format: AVPixelFormat) {
        guard let name = unsafe av_get_pix_fmt_name(format) else { return nil }
        unsafe self.init(String(cString: name))
    }
}

extension Rational {
    /// Creates the ratio, or nil if libav* uses it for "unknown": one that is not greater than zero. No rate, time base
    /// or pixel aspect ratio is less.
    package init?(known ratio: AVRational) {
        guard ratio.num > 0, ratio.den > 0 else { return nil }
        self.init(exactly: Int(ratio.num), over: Int(ratio.den))
    }
}

extension AVRational {
    /// Creates the ratio without loss: both numbers of a `Rational` that was read from libav* fit 32 bits.
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
