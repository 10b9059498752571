import Glibc
package import InletCore
import InletSystem

// Unsafe: passes lists of memory regions to one write.
/// The owner of an output descriptor: a file, a pipe, a device or standard output.
///
/// Not for use from two threads at once. Writes block while a pipe or device is slow.
@safe package final class OutputFile {
    /// The name in messages.
    private let name: String
    /// The URI of the sink, for the context of errors.
    private let subject: String
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// Whether written data can be removed again.
    private let isRegularFile: Bool
    /// Whether the file is removed if nothing can be written to it.
    private let isNew: Bool
    /// The end of the last complete frame, in bytes from the start of the file.
    private var end: off_t
    private var isOpen = true
    private let packing = PackingBlock()

    /// Opens a path for writing as ``NewFile`` does; `-` is standard output.
    ///
    /// - Parameters:
    ///   - mode: the mode of a file that is created.
    ///   - keepsExisting: whether an existing file is an error, with EEXIST. The default is false: it is replaced.
    ///   - takesPipes: whether the path may be a named pipe. A pipe without a reader is an error, not a wait.
    /// - Throws: the errors of ``NewFile``.
    package init(
        path: String, mode: FileMode = .owner, takesPipes: Bool = true, keepsExisting: Bool = false, subject: String
    ) throws(InletError) {
        self.subject = subject
        if path == "-" {
            (name, descriptor, isNew) = ("standard output", STDOUT_FILENO, false)
        } else {
            let file: NewFile
            do throws(InletError) {
                file = try NewFile(
                    path, mode: mode, existing: keepsExisting ? .kept : takesPipes ? .replaced : .replacedUnlessPipe)
            } catch {
                throw error.about(subject)
            }
            (name, descriptor, isNew) = (path, file.descriptor, file.isNew)
        }
        ownsDescriptor = path != "-"
        var status = stat()
        isRegularFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let appends = fcntl(descriptor, F_GETFL) & O_APPEND != 0
        end = appends ? status.st_size : max(0, lseek(descriptor, 0, SEEK_CUR))
    }

    deinit { try? finish() }

    /// Writes text and then the planes of a frame's picture without their padding.
    ///
    /// Unpadded planes are written in place; padded ones are packed first, into one block that is reused. If not
    /// everything can be written, a file is truncated to its previous length, so that it ends with a complete frame; a
    /// new one that is empty is then removed.
    ///
    /// - Parameter sequence: the number of the frame, for the context of errors.
    /// - Throws: ``SinkStopped`` if the reader of a pipe has closed; otherwise an error made from the `errno`.
    package func write(_ text: [UInt8], _ picture: I420Buffer? = nil, sequence: UInt64? = nil) throws {
        let failure = unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 4) { storage in
            unsafe text.withUnsafeBytes { text in
                var pieces = unsafe OutputPieces(storage)
                unsafe pieces.append(text)
                guard let picture else { return writeAll(&pieces) }
                let packed = packing.pack(picture)
                for plane in I420Buffer.Plane.allCases {
                    unsafe pieces.append(packed.bytes(of: plane))
                }
                let failure = writeAll(&pieces)
                // The pieces are addresses within these two.
                return withExtendedLifetime((packed, picture)) { failure }
            }
        }
        guard let failure else { return }
        if isRegularFile {
            _ = ftruncate(descriptor, end)
            _ = lseek(descriptor, end, SEEK_SET)
            if isNew, end == 0 { unsafe unlink(name) }
        }
        if failure == EPIPE { throw SinkStopped() }
        var error = InletError(errno: failure, operation: "write", path: name).about(subject)
        error.context.sequence = sequence
        throw error
    }

    /// Closes the descriptor, except standard output's.
    ///
    /// - Throws: if the system only now reports that something could not be stored.
    package func finish() throws(InletError) {
        guard isOpen else { return }
        isOpen = false
        guard ownsDescriptor else { return }
        // A close that fails has closed the descriptor, too: Linux close(2), "Dealing with error returns from close()".
        guard close(descriptor) != 0, errno != EINTR else { return }
        throw InletError(errno: errno, operation: "close", path: name).about(subject)
    }

    /// Writes all pieces.
    ///
    /// - Returns: the `errno` of the failure, or nil.
    private func writeAll(_ pieces: inout OutputPieces) -> Int32? {
        var written: off_t = 0
        while !pieces.isEmpty {
            let (count, error) = SignalGuard.run { pieces.write(to: descriptor) }
            if count >= 0 {
                pieces.drop(count)
                written += off_t(count)
            } else if error == EAGAIN {
                // Standard output may have been made non-blocking by another process that shares it.
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&request, 1, -1)
            } else if error != EINTR {
                return error
            }
        }
        end += written
        return nil
    }
}
