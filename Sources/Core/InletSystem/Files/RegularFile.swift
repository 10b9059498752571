import Glibc
package import InletCore

// Unsafe: reads files through descriptors.
/// Reads small files that options name. It never waits: only regular files are accepted, because a pipe may never have
/// a writer.
package enum RegularFile {
    /// Returns the content of a file.
    ///
    /// Relative paths begin at the working directory, and symbolic links are followed.
    ///
    /// - Parameters:
    ///   - path: the path.
    ///   - most: the most bytes to return; for a longer file, one more byte is returned.
    ///   - content: what the file should hold, such as `a secret`, for errors.
    ///   - advice: the remedy if the path is not one of a regular file, as a sentence.
    ///   - isPrivate: whether the file is refused if any user may read it, or users other than its owner may change it.
    ///     Its group may read it: some systems keep keys for a group. The default is false.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the path is empty or not a regular file,
    ///   ``InletError/Code/notFound``, ``InletError/Code/permissionDenied`` or ``InletError/Code/inputOutput`` as the
    ///   system says. No error quotes the content.
    package static func read(
        _ path: String, most: Int, content: String, advice: String, isPrivate: Bool = false
    ) throws(InletError) -> [UInt8] {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw InletError(.invalidConfiguration, "The path of a file with \(content) is missing.")
        }
        // Without O_NONBLOCK a pipe without a writer would block here for ever.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, path, content) }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw failure(errno, path, content) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw InletError(.invalidConfiguration, "'\(path)' is not a regular file. \(advice)")
        }
        guard !isPrivate || facts.st_mode & (S_IWGRP | S_IROTH | S_IWOTH) == 0 else {
            throw InletError(
                .permissionDenied,
                "Other users may read or change '\(path)', which holds \(content). Take that right away: chmod 600.")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= most {
            let count = unsafe systemRead(descriptor, &piece, min(piece.count, most + 1 - bytes.count))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno, path, content) }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    private static func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        unsafe Glibc.read(descriptor, bytes, count)
    }

    private static func failure(_ code: Int32, _ path: String, _ content: String) -> InletError {
        let context = InletError.Context(operation: "open", nativeCode: code)
        switch code {
        case ENOENT, ENOTDIR:
            return InletError(.notFound, "There is no file '\(path)' to read \(content) from.", context: context)
        case EACCES, EPERM:
            return InletError(
                .permissionDenied, "The file '\(path)' may not be read. Check its owner and permissions.",
                context: context)
        default:
            return InletError(
                .inputOutput, "The file '\(path)' cannot be read: \(SystemErrorText.of(code)).", context: context)
        }
    }
}
