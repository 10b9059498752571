package import InletCore

/// The reason why a capture cannot be read.
package enum CaptureError: Error, Sendable, Equatable {
    /// The file does not begin as captures do.
    case notCapture
    /// The format is a later one.
    case unknownVersion(Int)
    /// A record states more bytes than one of its kind may have.
    case recordTooLong(Int)
    /// A record states a time that is too late.
    case timeOutOfRange

    /// The error as users see it.
    package var inletError: InletError {
        switch self {
        case .notCapture:
            InletError(.malformedData, "The file is no capture of an RTSP session. `inlet capture` writes those.")
        case .unknownVersion(let version):
            InletError(
                .unsupported, "The capture has the format \(version), which a later version of Inlet has written.")
        case .recordTooLong(let length):
            InletError(.malformedData, "The capture is damaged: a record states a length of \(length) bytes.")
        case .timeOutOfRange:
            InletError(.malformedData, "The capture is damaged: a record states an impossible time.")
        }
    }
}
