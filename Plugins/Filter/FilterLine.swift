import CAVFilter
import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: owns a line of libavfilter's filters.
/// Owns a line of libavfilter's filters for pictures of one shape.
///
/// Confined to one thread at a time.
@safe final class FilterLine {
    private let line: OpaquePointer

    /// - Parameters:
    ///   - filters: in the syntax of ffmpeg's option `-vf`.
    ///   - first: a picture like all that follow.
    /// - Throws: the error with which libavfilter refuses the filters or the pictures.
    init(_ filters: String, for first: FilterInput) throws(InletError) {
        var made: OpaquePointer?
        let code = unsafe inlet_filter_open(&made, filters, first.frame)
        guard let line = unsafe made else { throw InletError(ffmpeg: code, operation: "avfilter_graph_config") }
        unsafe self.line = line
    }

    deinit { unsafe inlet_filter_close(line) }

    /// Sends a picture to the line.
    func send(_ picture: FilterInput) throws(InletError) {
        let code = unsafe inlet_filter_send(line, picture.frame)
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_buffersrc_add_frame") }
    }

    /// Signals the end of the stream.
    func sendEnd() throws(InletError) {
        let code = unsafe inlet_filter_send(line, nil)
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_buffersrc_add_frame") }
    }

    /// Returns the next result.
    ///
    /// - Throws: the error of a filter, or an error if no result is available yet.
    func receive() throws(InletError) -> FFmpegFrame {
        var frame = unsafe av_frame_alloc()
        guard let picture = unsafe frame else { throw InletError(ffmpeg: -ENOMEM, operation: "av_frame_alloc") }
        let code = unsafe inlet_filter_receive(line, picture)
        guard code >= 0 else {
            unsafe av_frame_free(&frame)
            throw InletError(ffmpeg: code, operation: "av_buffersink_get_frame")
        }
        return unsafe FFmpegFrame(taking: picture)
    }
}
