import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: returns libavformat's context of an input.
/// The input of a ``Demuxer``. It hides all differences between files and networks.
///
/// Used by one thread at a time. libavformat calls back into it, so it must outlive the context that it opened.
protocol DemuxerInput: AnyObject {
    /// The state that libavformat's interrupt callback checks.
    var interruption: Interruption { get }

    /// Opens the input.
    ///
    /// - Returns: the context, which the caller owns.
    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext>

    /// Determines the properties of the opened input, as far as they can be known before the first packet.
    @unsafe func analyze(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError) -> InputFacts

    /// Returns an assembler for the access units of the stream's packets; nil if libavformat assembles them.
    @unsafe func makeAssembler(_ parameters: UnsafePointer<AVCodecParameters>) throws(InletError)
        -> AccessUnitAssembler?

    /// Starts the time limit. Called before the demuxer waits for a packet.
    func beginRead()

    /// Throws if a read ended because it was interrupted.
    func checkRead() throws(InletError)

    /// Records a packet that has arrived.
    ///
    /// - Parameter isWanted: whether the packet belongs to the stream being read.
    func notePacket(isWanted: Bool)

    /// Returns libavformat's log messages since the last call: losses, and the reason why a read failed.
    func takeFacts() -> FFmpegLogging.Facts

    /// Returns the error for libavformat's code and the messages logged with it.
    func failure(_ code: Int32, _ facts: FFmpegLogging.Facts) -> InletError

    /// Pauses the input; returns false if it cannot be paused.
    @unsafe func pause(_ formatContext: UnsafeMutablePointer<AVFormatContext>) -> Bool

    /// Resumes the input after a pause.
    @unsafe func play(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError)
}

extension DemuxerInput {
    /// The operation named in read errors.
    static var readOperation: String { "av_read_frame" }
}
