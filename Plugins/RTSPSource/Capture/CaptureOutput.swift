package import InletCore

/// The output for the capture of a session, piece by piece.
///
/// The pieces in order are the file that `Docs/reference/rtsp-capture.md` describes. Secrets are masked in it.
package struct CaptureOutput: Sendable {
    let write: @Sendable ([UInt8]) -> InletError?

    /// - Parameter write: takes the next bytes, and returns the error that prevented it, or nil. It is called on the
    ///   source's thread, which reads nothing meanwhile. An error ends the session.
    package init(_ write: @escaping @Sendable ([UInt8]) -> InletError?) { self.write = write }
}
