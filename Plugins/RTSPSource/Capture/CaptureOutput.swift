package import InletCore

/// Where the capture of a session goes, piece by piece.
///
/// The pieces in their order are the file that `Docs/reference/rtsp-capture.md` describes. Secrets are masked in it.
package struct CaptureOutput: Sendable {
    let write: @Sendable ([UInt8]) -> InletError?

    /// - Parameter write: takes the next bytes, and returns why it could not; nil if it could. It is called on the
    ///   source's thread, which reads nothing meanwhile. An error ends the session.
    package init(_ write: @escaping @Sendable ([UInt8]) -> InletError?) { self.write = write }
}
