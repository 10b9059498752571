import Glibc
package import InletCore
import InletSystem
import Synchronization

// Unsafe: writes, renames and deletes files with system calls.
/// Writes a whole file under a temporary name, and renames it when it is complete.
package enum StagedFile {
    /// The temporary files that this process is writing.
    static let unfinished = Mutex<Set<String>>([])

    /// Writes a file. Readers of `path` see the previous file or the new one, and never a part.
    ///
    /// - Parameters:
    ///   - mode: the mode of the file from its creation on.
    ///   - overwrites: whether a file of that name is replaced. A symbolic link is replaced, too; its target does not
    ///     change.
    ///   - isDurable: whether to wait until the file and its name are on the disk, so that a power cut leaves the
    ///     previous file or the new one. The default is false: a power cut may leave an empty file.
    /// - Throws: an error made of the `errno`; ``InletError/Code/busy`` if there is a file of that name that must not
    ///   be replaced. Nothing is left behind.
    package static func write(
        _ bytes: RawSpan, to path: String, mode: FileMode, overwrites: Bool, isDurable: Bool = false
    ) throws(InletError) {
        // An unpredictable name: in a shared folder, another process could have created a file with a predictable one.
        let temporary = "\(path).\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
        unfinished.withLock { _ = $0.insert(temporary) }
        defer { unfinished.withLock { _ = $0.remove(temporary) } }
        let descriptor: Int32
        do throws(InletError) {
            descriptor = try NewFile(temporary, mode: mode, existing: .kept).descriptor
        } catch {
            throw InletError(errno: error.context.nativeCode ?? EIO, operation: "open", path: path)
        }
        var error = unsafe bytes.withUnsafeBytes { unsafe writeAll($0, to: descriptor) }
        if isDurable, error == nil, fsync(descriptor) != 0 { error = (errno, "fsync") }
        if close(descriptor) != 0, error == nil, errno != EINTR { error = (errno, "close") }
        if error == nil { error = place(temporary, at: path, overwrites: overwrites) }
        if isDurable, error == nil { error = syncFolder(of: path) }
        guard let error else { return }
        unsafe unlink(temporary)
        var facts = stat()
        if error.number == EEXIST, unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR {
            throw InletError(errno: EISDIR, operation: error.operation, path: path)
        }
        guard error.number != EEXIST else {
            throw InletError(
                .busy,
                "The file \(path) already exists. Add overwrite=true to replace it, or {n} to its name.",
                context: .init(operation: error.operation, nativeCode: EEXIST))
        }
        throw InletError(errno: error.number, operation: error.operation, path: path)
    }

    /// Writes a file of bytes that are in memory, as ``write(_:to:mode:overwrites:)-(RawSpan,_,_,_)`` does.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: FileMode, overwrites: Bool, isDurable: Bool = false
    ) throws(InletError) {
        try write(unsafe bytes.span.bytes, to: path, mode: mode, overwrites: overwrites, isDurable: isDurable)
    }

    /// Waits until the name of a new file or folder is on the disk.
    ///
    /// - Throws: an error made of the `errno`.
    package static func syncName(of path: String) throws(InletError) {
        if let error = syncFolder(of: path) {
            throw InletError(errno: error.number, operation: error.operation, path: path)
        }
    }

    /// Waits until the names in a folder, and the removal of names, are on the disk. Does nothing if there is no such
    /// folder.
    ///
    /// - Throws: an error made of the `errno`.
    package static func syncNames(in folder: String) throws(InletError) {
        guard let error = sync(folder), error.number != ENOENT else { return }
        throw InletError(errno: error.number, operation: error.operation, path: folder)
    }

    /// Renames a damaged file to `PATH.damaged`, so that a new one does not replace it. Does nothing if that fails.
    package static func setAside(_ path: String) { unsafe rename(path, path + ".damaged") }

    /// The time of day in nanoseconds since 1970.
    package static var now: Int64 { MonotonicTime.nanoseconds(of: CLOCK_REALTIME) }

    private static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
    ) -> (number: Int32, operation: String)? {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let (count, error) = SignalGuard.run {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
                return unsafe Self.write(descriptor, piece)
            }
            if count >= 0 {
                unsafe rest = rest.dropFirst(count)
            } else if error != EINTR {
                return (error, "write")
            }
        }
        return nil
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    /// Waits until the names in the folder of a file are on the disk.
    private static func syncFolder(of path: String) -> (number: Int32, operation: String)? {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return sync(slash.map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ".")
    }

    /// Waits until the names in a folder are on the disk. Some file systems cannot sync a folder.
    private static func sync(_ folder: String) -> (number: Int32, operation: String)? {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return (errno, "open") }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP, errno != EROFS else { return nil }
        return (errno, "fsync")
    }

    private static func place(
        _ temporary: String, at path: String, overwrites: Bool
    ) -> (number: Int32, operation: String)? {
        if !overwrites {
            // A hard link fails if there is a file: rename would replace it.
            if unsafe link(temporary, path) == 0 {
                unsafe unlink(temporary)
                return nil
            }
            // Some file systems have no hard links. On these, a file that another process creates at this moment is
            // lost.
            guard errno == EPERM || errno == ENOTSUP || errno == EOPNOTSUPP || errno == EMLINK else {
                return (errno, "link")
            }
            if unsafe access(path, F_OK) == 0 { return (EEXIST, "access") }
        }
        return unsafe rename(temporary, path) == 0 ? nil : (errno, "rename")
    }
}
