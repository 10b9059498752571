import Glibc
import InletCore
import InletOutput
import NIOCore

// Unsafe: owns a descriptor.
/// Owns a recording that is open for reading. A client reads the part that existed when it was opened.
final class RecordingReader: Sendable {
    private let descriptor: Int32
    /// The number of bytes.
    let byteCount: Int
    /// The maximum number of bytes of a piece.
    private static let longestPiece = 262_144

    /// Opens a file of a folder.
    ///
    /// - Throws: an error made of the `errno`.
    init(_ path: String) throws(InletError) {
        // Links are not followed and pipes are not waited for: the folder must contain only recordings.
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw InletError(errno: errno, operation: "open", path: path) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw InletError(.notFound, "'\(path)' is not a recording.")
        }
        (self.descriptor, byteCount) = (descriptor, Int(facts.st_size))
    }

    deinit { close(descriptor) }

    /// Returns the bytes from a position up to another one, but at most one piece; nil if they cannot be read or the
    /// file has no more bytes. Waits for the disk.
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
