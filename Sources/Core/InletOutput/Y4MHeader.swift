package import InletCore

/// The first line of a YUV4MPEG2 file, as FFmpeg's yuv4mpegpipe muxer (libavformat/yuv4mpegenc.c) writes it.
package struct Y4MHeader {
    package let text: String

    package init(_ format: VideoFormat) {
        let rate = Self.rate(of: format)
        let aspect = format.sampleAspectRatio
        let range =
            switch format.colorSpace.range {
            case .limited: " XCOLORRANGE=LIMITED"
            case .full: " XCOLORRANGE=FULL"
            case .unspecified: ""
            }
        let fields =
            switch format.fieldOrder {
            case .progressive: "p"
            case .topFirst: "t"
            case .bottomFirst: "b"
            }
        text = """
            YUV4MPEG2 W\(format.size.width) H\(format.size.height) F\(rate.numerator):\(rate.denominator) I\(fields) \
            A\(aspect?.numerator ?? 0):\(aspect?.denominator ?? 0) C420jpeg XYSCSS=420JPEG\(range)

            """
    }

    /// Returns the single rate of the header, because the frames have no times: FFmpeg also writes the inverse of the
    /// time base.
    package static func rate(of format: VideoFormat) -> Rational {
        format.frameRate ?? format.timeBase.reciprocal ?? Rational(25)
    }
}
