import CFFmpeg
public import InletCore

// Unsafe: reads libavutil's text of an error.
extension InletError {
    /// Creates the error for a code that a libav* function returned: an AVERROR tag or a negated errno.
    ///
    /// Every libav* code becomes an `InletError` here and nowhere else.
    ///
    /// - Parameters:
    ///   - nativeCode: what the function returned, less than zero.
    ///   - operation: the function, such as `avformat_open_input`.
    ///   - subject: the source's or sink's redacted URI.
    public init(ffmpeg nativeCode: Int32, operation: String, subject: String? = nil) {
        let meaning = FFmpegErrorMeaning.table[nativeCode] ?? .unnamed
        self.init(
            meaning.code, "\(meaning.advice) (\(operation): \(Self.ffmpegText(nativeCode)))",
            context: Context(subject: subject, operation: operation, nativeCode: nativeCode))
    }

    /// Returns libavutil's or the system's text for the code, such as `Invalid data found when processing input`.
    private static func ffmpegText(_ nativeCode: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(inlet_av_error_max_string_size)) { text in
            guard let base = text.baseAddress else { return "\(nativeCode)" }
            // It fills the buffer, at least with the number, even if it fails.
            _ = unsafe av_strerror(nativeCode, base, text.count)
            return unsafe String(cString: base)
        }
    }
}

/// The meaning of a libav* code for users.
private struct FFmpegErrorMeaning {
    var code: InletError.Code
    /// The failure and its remedy.
    var advice: String

    static let unnamed = FFmpegErrorMeaning(
        code: .inputOutput, advice: "Reading or writing failed. The code that follows is the reason.")

    static let table: [Int32: FFmpegErrorMeaning] = {
        var table: [Int32: FFmpegErrorMeaning] = [:]
        func add(_ codes: [Int32], _ code: InletError.Code, _ advice: String) {
            for native in codes { table[native] = FFmpegErrorMeaning(code: code, advice: advice) }
        }
        add([inlet_averror_exit, -ECANCELED], .cancelled, "The operation was interrupted.")
        add(
            [inlet_averror_invaliddata, inlet_averror_eof], .malformedData,
            "The data is cut, damaged, or in a format that this libavformat does not know. Check it with ffprobe.")
        add(
            [
                inlet_averror_demuxer_not_found, inlet_averror_decoder_not_found, inlet_averror_encoder_not_found,
                inlet_averror_muxer_not_found, inlet_averror_bsf_not_found,
            ], .unsupported,
            "The installed libav* does not support this format. Try a more complete build of FFmpeg.")
        add(
            [inlet_averror_protocol_not_found], .unsupported,
            "The data refers to a protocol that is not allowed here or not built in.")
        add(
            [inlet_averror_patchwelcome, inlet_averror_experimental, -ENOSYS], .unsupported,
            "The installed libav* cannot do this yet. Try a newer FFmpeg.")
        add(
            [inlet_averror_stream_not_found], .unsupported,
            "The data has no video stream. ffprobe lists its streams.")
        add(
            [inlet_averror_option_not_found, -EINVAL, -ERANGE, -EDOM], .invalidConfiguration,
            "libav* refused a setting. The code that follows is the reason.")
        add(
            [
                inlet_averror_bug, inlet_averror_bug2, inlet_averror_unknown, inlet_averror_external,
                inlet_averror_buffer_too_small,
            ], .internal, "libav* or a library that it uses failed internally. Try another version of it.")
        add([-ENOENT, -ENXIO, -ENODEV], .notFound, "It does not exist. Check the spelling of the path or address.")
        add(
            [inlet_averror_http_not_found], .notFound,
            "The server has nothing at this path. Check the part of the address after the host.")
        add([-EACCES, -EPERM, -EROFS], .permissionDenied, "The system refuses access. Check owner and permissions.")
        add(
            [inlet_averror_http_unauthorized, inlet_averror_http_forbidden], .authenticationFailed,
            "The server rejects the credentials, or requires some. Check user and password.")
        add(
            [inlet_averror_http_bad_request, inlet_averror_http_other_4xx], .unsupported,
            "The server refused the request.")
        add(
            [
                inlet_averror_http_server_error, -EPIPE, -ECONNRESET, -ECONNREFUSED, -ECONNABORTED, -ENOTCONN,
                -ENETUNREACH, -EHOSTUNREACH, -ENETDOWN, -ENETRESET, -EHOSTDOWN,
            ], .disconnected, "The other side is absent or has disconnected. Check that it runs and can be reached.")
        add([-ETIMEDOUT], .timedOut, "The other side did not answer in time.")
        add([-EBUSY, -EADDRINUSE, -ETXTBSY], .busy, "Another program uses it. Close that first.")
        add([-ENOMEM, -ENOBUFS], .resourceExhausted, "There is not enough memory for it.")
        add([-ENOSPC, -EDQUOT, -EFBIG], .resourceExhausted, "The disk is full or a limit on file size is reached.")
        add([-EMFILE, -ENFILE], .resourceExhausted, "There are too many open files. Raise the limit (ulimit -n).")
        add([-EISDIR], .unsupported, "It is a directory. Name a file in it.")
        add([-EIO], .inputOutput, "The device or file system failed. The kernel's log (dmesg) may state the reason.")
        return table
    }()
}
