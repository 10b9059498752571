import CFFmpeg
import InletCore
import InletFFmpeg

/// What a ``Demuxer`` reads from, with all in which files and networks differ.
///
/// Used by one thread at a time. libavformat calls back into it, so it must outlive the context that it has opened.
protocol DemuxerInput: AnyObject {
    /// What libavformat asks whether to give up.
    var interruption: Interruption { get }

    /// Opens the input.
    ///
    /// - Returns: the context, which the caller owns.
    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext>

    /// Finds out what was opened, as far as that is to be known before the first packet.
    @unsafe func analyze(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError) -> InputFacts

    /// What makes access units of the stream's packets; nil where libavformat does.
    @unsafe func makeAssembler(_ parameters: UnsafePointer<AVCodecParameters>) throws(InletError)
        -> AccessUnitAssembler?

    /// A packet is waited for from here on: a limit of time begins.
    func beginRead()

    /// Throws where a read ended because it was to.
    func checkRead() throws(InletError)

    /// A packet has come.
    ///
    /// - Parameter isWanted: it is one of the stream that is read.
    func notePacket(isWanted: Bool)

    /// What libavformat logged since the last call: what was lost, and why a read failed.
    func takeFacts() -> FFmpegLogging.Facts

    /// The error for libavformat's code and what it logged with it.
    func failure(_ code: Int32, _ facts: FFmpegLogging.Facts) -> InletError

    /// Stands still; false where the input cannot.
    @unsafe func pause(_ formatContext: UnsafeMutablePointer<AVFormatContext>) -> Bool

    /// Goes on after a pause.
    @unsafe func play(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError)
}

extension DemuxerInput {
    /// The operation that failures of reading name.
    static var readOperation: String { "av_read_frame" }
}
