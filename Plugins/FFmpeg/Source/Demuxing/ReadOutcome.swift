import CFFmpeg

/// The meaning of a libavformat read that returned no packet, in one table for every kind of input.
enum ReadOutcome: Equatable {
    /// The stream has ended.
    case end
    /// There is no data yet.
    case tryAgain
    /// Data that cannot be parsed was skipped; more may follow.
    case skip
    /// The read failed with this code.
    case fail(Int32)

    /// libavformat's report.
    struct Reading {
        /// The result of `av_read_frame`.
        var code: Int32
        /// The code with which reading bytes failed, which libavformat treats as the end of the data; nil if reading
        /// did not fail.
        var byteError: Int32?
        /// Whether all bytes have been read.
        var isAtEnd = false
    }

    /// - Parameter hasPlayedAll: whether a server has sent the full stated length of a recording.
    init(_ reading: Reading, of kind: InputKind, hasPlayedAll: Bool) {
        let isOver = reading.code == inlet_averror_eof
        if let error = reading.byteError, !kind.isNetwork || isOver && !hasPlayedAll {
            self = .fail(error)
            return
        }
        switch reading.code {
        case inlet_averror_eof: self = kind.hasEnd || hasPlayedAll ? .end : .fail(reading.code)
        case inlet_averror_eagain: self = .tryAgain
        case inlet_averror_invaliddata: self = .skip
        case -ENOMEM: self = .fail(reading.code)
        // Demuxers of files return many codes for truncated data, EIO among them. The read itself has not failed.
        default: self = kind.isNetwork ? .fail(reading.code) : reading.isAtEnd && kind.hasEnd ? .end : .skip
        }
    }

    /// Creates the outcome after so many consecutive unparsable reads that nothing more can be expected.
    init(givingUp reading: Reading, of kind: InputKind) {
        self = reading.isAtEnd && kind.hasEnd && !kind.isNetwork ? .end : .fail(inlet_averror_invaliddata)
    }
}
