import CFFmpeg

/// What a read of libavformat means that gave no packet: one table for every kind of input.
enum ReadOutcome: Equatable {
    /// The stream is at its end.
    case end
    /// There is nothing yet.
    case tryAgain
    /// Data that cannot be understood was passed over; more may follow.
    case skip
    /// Reading failed, with the code that says of what.
    case fail(Int32)

    /// What libavformat said.
    struct Reading {
        /// What `av_read_frame` returned.
        var code: Int32
        /// What reading bytes failed with, which libavformat takes for the end of the data; nil where it did not fail.
        var byteError: Int32?
        /// Whether all bytes have been read.
        var isAtEnd = false
    }

    /// - Parameter hasPlayedAll: a server has sent a recording as long as it said that it is.
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
        // Demuxers of files return many codes for data that breaks off, EIO among them. Reading itself has not failed.
        default: self = kind.isNetwork ? .fail(reading.code) : reading.isAtEnd && kind.hasEnd ? .end : .skip
        }
    }

    /// What follows from so much in a row that cannot be understood that nothing more is to be expected.
    init(givingUp reading: Reading, of kind: InputKind) {
        self = reading.isAtEnd && kind.hasEnd && !kind.isNetwork ? .end : .fail(inlet_averror_invaliddata)
    }
}
