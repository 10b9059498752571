import CFFmpeg

// Unsafe: owns the dictionaries of decoder options that libavformat reads.
/// Makes libavformat analyse the streams of an input, for which it may decode pictures.
enum StreamAnalysis {
    /// - Parameter maximumPixels: the largest picture for which memory is allocated. Streams that appear only during
    ///   the analysis, as in MPEG-TS, have no such limit before they are decoded.
    /// - Returns: the result of `avformat_find_stream_info`.
    @unsafe static func run(_ input: UnsafeMutablePointer<AVFormatContext>, maximumPixels: Int) -> Int32 {
        var options = unsafe [OpaquePointer?](repeating: nil, count: max(1, Int(input.pointee.nb_streams)))
        for index in unsafe options.indices {
            unsafe av_dict_set(&options[index], "max_pixels", "\(maximumPixels)", 0)
        }
        let code = unsafe avformat_find_stream_info(input, &options)
        for index in unsafe options.indices { unsafe av_dict_free(&options[index]) }
        return code
    }
}
