import CFFmpeg
import InletCore
import InletDecode
import InletFFmpeg

// Unsafe: opens a file as a libavformat input.
/// A local file, or what is read like one: a FIFO, a device, standard input.
///
/// Reading has no time limits of its own: the source's suffice.
@safe final class FileInput: DemuxerInput {
    let interruption: Interruption
    private let path: String
    /// Reads anything other than an ordinary file; nil for one, which libavformat reads best itself.
    private let pipe: PipeInput?
    private let kind: InputKind
    private let pacing: SourcePacing
    private let limits: PictureLimits
    private let context: SourceContext

    init(path: String, pacing: SourcePacing, limits: PictureLimits, context: SourceContext) throws(InletError) {
        self.path = path
        self.pacing = pacing
        self.limits = limits
        self.context = context
        interruption = Interruption(context)
        pipe = try PipeInput(path: path, awaitsWriter: pacing == .live, context: context)
        guard let pipe else {
            guard pacing != .live else {
                throw InletError(.invalidConfiguration, "A file is not live: pace=live is for FIFOs and devices.")
            }
            kind = .file
            return
        }
        kind = pacing == .live && pipe.canBeOpenedAnew ? .livePipe : .pipe
    }

    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext> {
        var opened = unsafe try interruption.makeInput() as UnsafeMutablePointer<AVFormatContext>?
        // A playlist or a reference inside the file may name other local files, never the network.
        var options: OpaquePointer?
        unsafe av_dict_set(&options, "protocol_whitelist", "file", 0)
        defer { unsafe av_dict_free(&options) }
        if let pipe {
            unsafe opened?.pointee.pb = pipe.io
            // In microseconds, instead of 5 s: the writer may write at the pace of the pictures.
            unsafe av_dict_set(&options, "analyzeduration", "1000000", 0)
        }
        let code = unsafe avformat_open_input(&opened, pipe == nil ? "file:\(path)" : nil, nil, &options)
        guard code >= 0, let opened = unsafe opened else {
            throw InletError(ffmpeg: code, operation: "avformat_open_input")
        }
        return unsafe opened
    }

    @unsafe func analyze(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError) -> InputFacts {
        // Data from a pipe cannot be read twice. Standard input cannot be opened again at all.
        var facts = InputFacts(kind: kind, pacing: pacing, isBroadcast: pipe?.canBeOpenedAnew)
        facts.timestampsWrap = pacing == .live
        guard kind != .livePipe else {
            // As with a live network stream, the first key frame tells the size.
            facts.showsVideoLate = true
            facts.makesTimesUp = unsafe formatContext.pointee.makesTimesUp
            return facts
        }
        let code = unsafe StreamAnalysis.run(formatContext, maximumPixels: limits.size.decodedPixelCount)
        if code < 0 { throw InletError(ffmpeg: code, operation: "avformat_find_stream_info") }
        // When interrupted, libavformat returns success with what it has read.
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
            .streamEnded, "Whoever wrote to the pipe has closed it.",
            context: .init(operation: Self.readOperation, nativeCode: code))
    }

    /// Pauses by not reading; what a camera writes to a pipe meanwhile would be shown late.
    @unsafe func pause(_ formatContext: UnsafeMutablePointer<AVFormatContext>) -> Bool { kind.hasEnd }

    @unsafe func play(_ formatContext: UnsafeMutablePointer<AVFormatContext>) {}
}
