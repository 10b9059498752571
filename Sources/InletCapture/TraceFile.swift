import InletCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The owner of the descriptor of a trace. Not for use from two threads at once.
@safe final class TraceFile {
    private let path: String
    private var descriptor: Int32

    /// Creates the file, or cuts it to nothing.
    ///
    /// - Throws: an error made of the `errno`; ``InletError/Code/invalidConfiguration`` for a pipe, which could block for ever.
    init(path: String) throws(InletError) {
        self.path = path
        // With O_NONBLOCK a pipe without a reader fails to open instead of waiting.
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw Self.error(errno, operation: "open", path: path) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFIFO else {
            _ = close(descriptor)
            throw InletError(
                .invalidConfiguration, "A trace cannot go to the pipe \(path). Name a file.",
                context: .init(operation: "open"))
        }
    }

    deinit { try? finish() }

    /// - Throws: an error made of the `errno`.
    func append(_ bytes: [UInt8]) throws(InletError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw Self.error(errno, operation: "write", path: path)
            }
        }
    }

    /// - Throws: where the system only now reports that something could not be stored.
    func finish() throws(InletError) {
        guard descriptor >= 0 else { return }
        let closed = close(descriptor)
        descriptor = -1
        // A close that fails has closed the descriptor, too: Linux close(2), "Dealing with error returns from close()".
        guard closed == 0 || errno == EINTR else { throw Self.error(errno, operation: "close", path: path) }
    }

    private static func error(_ number: Int32, operation: String, path: String) -> InletError {
        let code: InletError.Code =
            switch number {
            case ENOENT, ENOTDIR, ENXIO: .notFound
            case EACCES, EPERM, EROFS: .permissionDenied
            case EISDIR, ELOOP, ENAMETOOLONG: .invalidConfiguration
            case ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOMEM: .resourceExhausted
            default: .inputOutput
            }
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return InletError(
            code, "Cannot \(operation) the trace \(path): \(reason). Choose another file, or run without a trace.",
            context: .init(operation: operation, nativeCode: number))
    }
}
