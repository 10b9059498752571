import InletCore
import InletOutput
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

// Unsafe: owns a descriptor.
/// Owns a recording that is opened for reading. A client reads what there was of it when it was opened.
final class RecordingReader: Sendable {
    private let descriptor: Int32
    /// The number of bytes.
    let byteCount: Int
    /// The most bytes of a piece.
    private static let longestPiece = 262_144

    /// Opens a file of a folder.
    ///
    /// - Throws: an error made of the `errno`.
    init(_ path: String) throws(InletError) {
        // A link is not followed, and a pipe not waited for: in the folder are recordings alone.
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw InletError(errno: errno, operation: "open", path: path) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw InletError(.notFound, "'\(path)' is no recording.")
        }
        (self.descriptor, byteCount) = (descriptor, Int(facts.st_size))
    }

    deinit { close(descriptor) }

    /// Returns the bytes from a place on, up to another one or a piece's length; nil if they cannot be read, or there
    /// are no more. Blocks for the disk.
    func piece(at offset: Int, before end: Int) -> ByteBuffer? {
        let count = min(Self.longestPiece, min(end, byteCount) - offset)
        guard count > 0 else { return nil }
        var buffer = ByteBuffer()
        let read = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
            unsafe max(0, pread(descriptor, memory.baseAddress, count, off_t(offset)))
        }
        return read > 0 ? buffer : nil
    }
}
