package import InletCore

/// The output for the capture of a session, in pieces.
///
/// The pieces in order form the file that `Docs/reference/rtsp-capture.md` describes. Secrets are masked in it.
package struct CaptureOutput: Sendable {
    let write: @Sendable ([UInt8]) -> InletError?

    /// - Parameter write: writes the next bytes, and returns the error that prevented this, or nil. Called on the
    ///   source's thread, which reads nothing meanwhile. An error ends the session.
    package init(_ write: @escaping @Sendable ([UInt8]) -> InletError?) { self.write = write }
}
