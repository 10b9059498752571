import CFFmpeg
import Glibc
import InletCore
import InletDecode
import InletFFmpeg

// Unsafe: opens a file as a libavformat input.
/// A local file, or an input read in the same way: a FIFO, a device, standard input, a series of numbered pictures.
///
/// Reading has no separate time limits, because those of the source are sufficient.
@safe final class FileInput: DemuxerInput {
    let interruption: Interruption
    private let path: String
    /// The reader for anything but an ordinary file; nil for a file, which libavformat itself reads best.
    private let pipe: PipeInput?
    private let kind: InputKind
    private let pacing: SourcePacing
    private let limits: PictureLimits
    private let frameRate: Rational?
    private let context: SourceContext
    /// Whether the path names numbered files, such as `img%03d.png`.
    private let isSeries: Bool

    /// The highest number that the first picture of a series may have.
    private static let firstNumbers = 10_000

    /// - Parameter frameRate: the frame rate of a file that states no times; nil for libavformat's default.
    init(
        path: String, pacing: SourcePacing, limits: PictureLimits, frameRate: Rational?, context: SourceContext
    ) throws(InletError) {
        self.path = path
        self.pacing = pacing
        self.limits = limits
        self.frameRate = frameRate
        self.context = context
        interruption = Interruption(context)
        // A file with exactly that name takes precedence.
        isSeries = unsafe access(path, F_OK) != 0 && av_filename_number_test(path) != 0
        pipe = try isSeries ? nil : PipeInput(path: path, awaitsWriter: pacing == .live, context: context)
        guard let pipe else {
            guard pacing != .live else {
                throw InletError(.invalidConfiguration, "A file is not live. pace=live is only for FIFOs and devices.")
            }
            kind = .file
            return
        }
        kind = pacing == .live && pipe.canBeOpenedAnew ? .livePipe : .pipe
    }

    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext> {
        var opened = unsafe try interruption.makeInput() as UnsafeMutablePointer<AVFormatContext>?
        // A playlist or a reference inside the file may name other local files, but never the network.
        var options: OpaquePointer?
        unsafe av_dict_set(&options, "protocol_whitelist", "file", 0)
        defer { unsafe av_dict_free(&options) }
        if let pipe {
            unsafe opened?.pointee.pb = pipe.io
            // In microseconds, instead of the default of 5 s, because the writer may write at the pace of the
            // pictures.
            unsafe av_dict_set(&options, "analyzeduration", "1000000", 0)
        }
        if let frameRate {
            unsafe av_dict_set(&options, "framerate", "\(frameRate.numerator)/\(frameRate.denominator)", 0)
        }
        if isSeries { unsafe av_dict_set(&options, "start_number_range", "\(Self.firstNumbers)", 0) }
        let format = isSeries ? unsafe av_find_input_format("image2") : nil
        let code = unsafe avformat_open_input(&opened, pipe == nil ? "file:\(path)" : nil, format, &options)
        guard code >= 0, let found = unsafe opened else {
            if isSeries, code == -ENOENT {
                throw InletError(
                    .notFound,
                    "There is no such file, and no series of pictures with a first number below \(Self.firstNumbers). "
                        + "Check the path.", context: .init(operation: "avformat_open_input", nativeCode: code))
            }
            throw InletError(ffmpeg: code, operation: "avformat_open_input")
        }
        // Options that the demuxer does not have remain in the dictionary.
        guard unsafe av_dict_get(options, "framerate", nil, 0) == nil else {
            unsafe avformat_close_input(&opened)
            throw InletError(
                .invalidConfiguration,
                "The file states its own times. Leave out fps, which is only for series of pictures and raw streams.")
        }
        return unsafe found
    }

    @unsafe func analyze(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError) -> InputFacts {
        // Data from a pipe cannot be read twice. Standard input cannot even be opened again.
        var facts = InputFacts(kind: kind, pacing: pacing, isBroadcast: pipe?.canBeOpenedAnew)
        facts.timestampsWrap = pacing == .live
        guard kind != .livePipe else {
            // As with a live network stream, the first key frame states the size.
            facts.showsVideoLate = true
            facts.makesTimesUp = unsafe formatContext.pointee.makesTimesUp
            return facts
        }
        let code = unsafe StreamAnalysis.run(formatContext, maximumPixels: limits.size.decodedPixelCount)
        if code < 0 { throw InletError(ffmpeg: code, operation: "avformat_find_stream_info") }
        // When interrupted, libavformat returns success with the data that it has read.
        try context.checkCancellation()
        facts.isParsed = true
        return facts
    }

    @unsafe func makeAssembler(_ parameters: UnsafePointer<AVCodecParameters>) -> AccessUnitAssembler? { nil }

    func beginRead() {}

    func checkRead() throws(InletError) { try context.checkCancellation() }

    func notePacket(isWanted: Bool) {}

    func takeFacts() -> FFmpegLogging.Facts { FFmpegLogging.Facts() }

    func failure(_ code: Int32, _ facts: FFmpegLogging.Facts) -> InletError {
        guard code == inlet_averror_eof else { return InletError(ffmpeg: code, operation: Self.readOperation) }
        return InletError(
            .streamEnded, "The program that wrote to the pipe has closed it.",
            context: .init(operation: Self.readOperation, nativeCode: code))
    }

    /// Pauses by not reading. Data that a camera writes to a pipe meanwhile would be shown late.
    @unsafe func pause(_ formatContext: UnsafeMutablePointer<AVFormatContext>) -> Bool { kind.hasEnd }

    @unsafe func play(_ formatContext: UnsafeMutablePointer<AVFormatContext>) {}
}
