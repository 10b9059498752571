import Glibc
import InletCore
import InletSystem

// Unsafe: reads small files, folders and the environment.
/// The system's calls for small files and folders. No call waits: only regular files are read.
enum SystemFile {
    /// Returns the path with all links followed; nil if nothing exists there.
    static func resolved(_ path: String) -> String? {
        guard !path.utf8.contains(0), let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(validatingCString: real)
    }

    /// Returns the system's metadata of a path, without following a link in its last part; nil if nothing exists there.
    static func facts(_ path: String) -> FileFacts? {
        var facts = stat()
        guard !path.utf8.contains(0), unsafe lstat(path, &facts) == 0 else { return nil }
        return FileFacts(facts)
    }

    /// Returns the names in a folder in ascending order of their bytes, without those that are not UTF-8.
    ///
    /// - Parameters:
    ///   - suffix: the suffix of the names.
    ///   - most: the most names to return; the others are ignored.
    static func names(in folder: String, suffix: String, most: Int) throws(InletError) -> [String] {
        guard let handle = unsafe opendir(folder) else { throw failure(errno, "list", folder) }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, name.hasByteSuffix(suffix), name.utf8.count > suffix.utf8.count else { continue }
            names.append(name)
        }
        return Array(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(most))
    }

    /// Returns the content of a regular file and its metadata, both of the same opened file.
    ///
    /// - Parameter most: the most bytes to return; for a longer file, one more byte is returned.
    /// - Throws: if it cannot be read, is a link, or is not a regular file.
    static func read(_ path: String, most: Int) throws(InletError) -> (bytes: [UInt8], facts: FileFacts) {
        // With O_NONBLOCK a pipe without a writer does not block.
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, "open", path) }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw failure(errno, "examine", path) }
        let found = FileFacts(facts)
        guard found.kind == .file else {
            throw InletError(.pluginRejected, "\(path) is not a regular file. Put the file itself there.")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= most {
            let count = unsafe Self.read(descriptor, &piece, min(piece.count, most + 1 - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno, "read", path) }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return (bytes, found)
    }

    /// Replaces a file as a whole: a reader sees the former content or the new one, and other names of the former file
    /// keep it. Only its owner can read the new file.
    static func replace(_ path: String, with bytes: [UInt8]) throws(InletError) {
        let staged = "\(path).\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = unsafe open(staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno, "create", staged) }
        var rest = bytes[...]
        var number: Int32 = 0
        while !rest.isEmpty, number == 0 {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                number = count == 0 ? ENOSPC : errno
            }
        }
        if close(descriptor) != 0, number == 0 { number = errno }
        if number == 0, unsafe rename(staged, path) != 0 { number = errno }
        guard number == 0 else {
            unsafe unlink(staged)
            throw failure(number, "replace", path)
        }
    }

    /// Creates an empty file, unless a regular file exists. A symbolic link is not followed, so that a user who may
    /// write to the folder cannot have a file created or changed elsewhere.
    static func create(_ path: String) throws(InletError) {
        // With O_NONBLOCK a pipe without a reader does not block.
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let descriptor = path.utf8.contains(0) ? -1 : unsafe open(path, flags, 0o666)
        guard descriptor >= 0 else {
            switch errno {
            case ELOOP: throw InletError(.pluginRejected, "\(path) is a symbolic link. Name the file itself.")
            case EISDIR, ENXIO: throw notRegular(path)
            case ENOENT, ENOTDIR:
                throw InletError(
                    .notFound, "\(path) cannot be created: its folder does not exist. Make that first.",
                    context: .init(operation: "open", nativeCode: errno))
            case let number: throw failure(number, "create", path)
            }
        }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw failure(errno, "examine", path) }
        guard FileFacts(facts).kind == .file else { throw notRegular(path) }
    }

    private static func notRegular(_ path: String) -> InletError {
        InletError(.pluginRejected, "\(path) is not a regular file. Name a regular or a new file.")
    }

    /// Creates a folder that only its owner can use, unless it exists.
    static func makeFolder(_ path: String) throws(InletError) {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw failure(errno, "create", path)
    }

    /// The user that this process acts for.
    static var user: UInt32 { geteuid() }

    /// Returns a variable of the environment that is UTF-8 and not empty. A process that acts for a user other than the
    /// one who started it does not trust its environment, and gets nil.
    static func variable(_ name: String) -> String? {
        guard geteuid() == getuid(), getegid() == getgid(), let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The working directory; nil if it is unknown.
    static var workingFolder: String? { resolved(".") }

    private static func read(_ descriptor: Int32, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        unsafe Glibc.read(descriptor, bytes, count)
    }

    private static func failure(_ number: Int32, _ operation: String, _ path: String) -> InletError {
        let code: InletError.Code =
            switch number {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM, EROFS: .permissionDenied
            case ELOOP: .pluginRejected
            default: .inputOutput
            }
        return InletError(
            code, "Cannot \(operation) \(path): \(SystemErrorText.of(number)).",
            context: .init(operation: operation, nativeCode: number))
    }
}

extension FileFacts {
    fileprivate init(_ facts: stat) {
        kind =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        owner = facts.st_uid
        mode = UInt32(facts.st_mode & 0o7777)
        device = UInt64(truncatingIfNeeded: facts.st_dev)
        inode = UInt64(facts.st_ino)
        let time = facts.st_mtim
        modified = Int64(time.tv_sec).multiplied(saturatingBy: 1_000_000_000).adding(saturating: Int64(time.tv_nsec))
        size = Int64(facts.st_size)
    }
}
