import InletSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension LocalAccess {
    /// Access to the files that this process may read and to its environment: for a registry whose URIs are all written
    /// by somebody who may read them, too.
    ///
    /// Secrets are read when a URI is, and no more than ``longestSecret`` of them. Paths are the system's: relative
    /// ones begin at the working directory, and symbolic links are followed, as mounted secrets are often such. What is
    /// no regular file is refused without waiting: a pipe may never have a writer.
    public static let system = LocalAccess { place throws(InletError) in
        switch place {
        case .file(let path): try content(of: path)
        case .variable(let name): try value(of: name)
        }
    }

    private static func value(of name: String) throws(InletError) -> [UInt8] {
        guard !name.isEmpty, !name.utf8.contains(0), let value = unsafe getenv(name) else {
            throw InletError(.invalidConfiguration, "The environment variable '\(name)' is not set.")
        }
        return unsafe Array(UnsafeBufferPointer(start: value, count: min(strlen(value), longestSecret + 1)))
            .map { UInt8(bitPattern: $0) }
    }

    private static func content(of path: String) throws(InletError) -> [UInt8] {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw InletError(.invalidConfiguration, "The path of a file with a secret is missing.")
        }
        // Without O_NONBLOCK a pipe without a writer would keep it here for ever.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, path) }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw failure(errno, path) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw InletError(
                .invalidConfiguration, "'\(path)' is no regular file. A secret is read from a file or the environment.")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= longestSecret {
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno, path) }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    private static func failure(_ code: Int32, _ path: String) -> InletError {
        let context = InletError.Context(operation: "open", nativeCode: code)
        switch code {
        case ENOENT, ENOTDIR:
            return InletError(.notFound, "There is no file '\(path)' to read a secret from.", context: context)
        case EACCES, EPERM:
            return InletError(
                .permissionDenied, "The file '\(path)' may not be read. Check its owner and permissions.",
                context: context)
        default:
            return InletError(
                .inputOutput, "The file '\(path)' cannot be read: \(SystemErrorText.of(code)).",
                context: context)
        }
    }
}
