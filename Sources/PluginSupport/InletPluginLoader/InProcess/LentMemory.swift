// Unsafe: owns memory that a plug-in has lent and calls its release function.
/// Keeps memory that a plug-in in this process has lent, and tells the plug-in when it is no longer referenced.
///
/// The functions are those of `inlet_item`: `release` may be called on any thread.
@safe final class LentMemory: Sendable {
    private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    nonisolated(unsafe) private let data: UnsafeMutableRawPointer?
    private let library: any AnyObject & Sendable

    /// - Parameters:
    ///   - release: called once; nil if no call is needed.
    ///   - data: its argument.
    ///   - library: keeps the library initialised.
    init(
        _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ data: UnsafeMutableRawPointer?,
        of library: any AnyObject & Sendable
    ) {
        unsafe self.release = release
        unsafe self.data = data
        self.library = library
    }

    deinit { unsafe release?(data) }
}
