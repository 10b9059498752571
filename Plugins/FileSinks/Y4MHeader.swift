import InletCore

/// The first line of a YUV4MPEG2 file, as FFmpeg's yuv4mpegpipe muxer (libavformat/yuv4mpegenc.c) writes it.
struct Y4MHeader {
    let text: String

    init(_ format: VideoFormat) {
        // The header has one rate and the frames no times. FFmpeg writes the inverse of the time base, too.
        let rate = format.frameRate ?? format.timeBase.reciprocal ?? Rational(25)
        let aspect = format.sampleAspectRatio
        let range =
            switch format.colorSpace.range {
            case .limited: " XCOLORRANGE=LIMITED"
            case .full: " XCOLORRANGE=FULL"
            case .unspecified: ""
            }
        text = """
            YUV4MPEG2 W\(format.size.width) H\(format.size.height) F\(rate.numerator):\(rate.denominator) Ip \
            A\(aspect?.numerator ?? 0):\(aspect?.denominator ?? 0) C420jpeg XYSCSS=420JPEG\(range)

            """
    }
}
