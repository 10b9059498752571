import Glibc
package import InletCore

// Unsafe: creates and checks files with system calls.
/// A file opened for writing by its path. The caller closes the descriptor.
///
/// The last part of the path is never followed if it is a symbolic link: in a folder that other users can write to,
/// they would decide which file is overwritten. A new file has the requested mode from its first moment. The exceptions
/// are the system's own names in `/dev`: `/dev/stdout` and `/dev/fd/3` are links by nature.
package struct NewFile: Sendable {
    package let descriptor: Int32
    /// Whether it is a regular file, from which written data can be removed again.
    package let isRegular: Bool
    /// Whether the name was created for this file: removing it undoes the opening.
    package let isNew: Bool

    /// The option `mode` of sinks that make files.
    package static let mode = PluginOption(
        "mode", default: FileMode.owner, "The users that may read and write the file",
        range: "600 to 666, without execution"
    ) { _ in true }

    /// The treatment of an existing file with the same name.
    package enum Existing: Sendable {
        /// A regular file is replaced; a device or a named pipe is written to.
        case replaced
        /// A regular file is replaced; a device is written to; named pipes and sockets are refused, as the output needs
        /// a file.
        case replacedUnlessPipe
        /// It is kept, and `open` fails with EEXIST.
        case kept
    }

    /// Opens a path for writing. Does not wait: a named pipe without a reader is an error.
    ///
    /// A replaced file is unlinked, and a new one gets its name, so that neither a process that has the old one open
    /// nor another name of it sees anything of the new one. If the folder does not allow that, a file of this user is
    /// truncated.
    ///
    /// - Throws: an error made from the `errno`; ``InletError/Code/invalidConfiguration`` for a symbolic link, a
    ///   folder, and a pipe if none is allowed.
    package init(_ path: String, mode: FileMode, existing: Existing) throws(InletError) {
        if Self.isSystemName(path) {
            let descriptor = Self.open(path, O_WRONLY)
            guard descriptor >= 0 else { throw Self.failure(path) }
            self = try Self.checked(descriptor, path, existing)
            return
        }
        // Other processes may create or remove the name between two calls; the limit bounds the retries.
        for _ in 0..<100 {
            // O_EXCL follows no link either.
            let descriptor = Self.open(path, O_WRONLY | O_CREAT | O_EXCL)
            if descriptor >= 0 {
                // Regardless of the umask.
                guard fchmod(descriptor, mode_t(mode.bits)) == 0 else {
                    let error = Self.failure(path, operation: "fchmod")
                    _ = close(descriptor)
                    unsafe unlink(path)
                    throw error
                }
                self.init(descriptor: descriptor, isRegular: true, isNew: true)
                return
            }
            guard errno == EEXIST, existing != .kept else { throw Self.failure(path) }
            var facts = stat()
            guard unsafe lstat(path, &facts) == 0 else { continue }
            if facts.st_mode & S_IFMT == S_IFREG, unsafe unlink(path) == 0 || errno == ENOENT { continue }
            try Self.check(facts, path, existing)
            // A device, a pipe, or a file in a folder in which this user may not remove names. A link is refused by
            // O_NOFOLLOW.
            let present = Self.open(path, O_WRONLY | O_NOFOLLOW)
            if present < 0, errno == ENOENT { continue }
            guard present >= 0 else { throw Self.failure(path) }
            self = try Self.checked(present, path, existing)
            if isRegular { try cut(to: mode, path) }
            return
        }
        throw InletError(errno: EBUSY, operation: "open", path: path)
    }

    /// Whether a path is the system's own name for a device or a descriptor, which other users cannot replace by a
    /// link.
    private static func isSystemName(_ path: String) -> Bool {
        guard path.utf8.starts(with: "/dev/".utf8) else { return false }
        let name = path.utf8.dropFirst(5)
        return !name.contains(UInt8(ascii: "/"))
            || name.starts(with: "fd/".utf8) && name.dropFirst(3).allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func open(_ path: String, _ flags: Int32) -> Int32 {
        // With O_NONBLOCK a pipe without a reader fails to open instead of waiting indefinitely.
        unsafe Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
    }

    private static func failure(_ path: String, operation: String = "open") -> InletError {
        InletError(errno: errno, operation: operation, path: path)
    }

    /// - Throws: if the file must not be written to. The file is then closed.
    private static func checked(
        _ descriptor: Int32, _ path: String, _ existing: Existing
    ) throws(InletError) -> NewFile {
        var facts = stat()
        do throws(InletError) {
            guard unsafe fstat(descriptor, &facts) == 0 else { throw failure(path, operation: "fstat") }
            try check(facts, path, existing)
        } catch {
            _ = close(descriptor)
            throw error
        }
        // Later writes may block.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return NewFile(descriptor: descriptor, isRegular: facts.st_mode & S_IFMT == S_IFREG, isNew: false)
    }

    private static func check(_ facts: stat, _ path: String, _ existing: Existing) throws(InletError) {
        guard existing == .replacedUnlessPipe, [S_IFIFO, S_IFSOCK].contains(facts.st_mode & S_IFMT) else { return }
        throw InletError(
            .invalidConfiguration,
            "\(path) is a pipe or a socket, but this output needs a file. "
                + "For a pipe, use y4m:, or exec: with a program that reads frames.",
            context: .init(operation: "open"))
    }

    private init(descriptor: Int32, isRegular: Bool, isNew: Bool) {
        (self.descriptor, self.isRegular, self.isNew) = (descriptor, isRegular, isNew)
    }

    /// Truncates a file that could not be replaced. Another user's file is not touched, because its owner could read
    /// the data.
    private func cut(to mode: FileMode, _ path: String) throws(InletError) {
        var facts = stat()
        var number: Int32?
        if unsafe fstat(descriptor, &facts) != 0 {
            number = errno
        } else if facts.st_uid != geteuid() {
            number = EPERM
        } else if fchmod(descriptor, mode_t(mode.bits)) != 0 || ftruncate(descriptor, 0) != 0 {
            number = errno
        }
        guard let number else { return }
        _ = close(descriptor)
        throw InletError(errno: number, operation: "replace", path: path)
    }
}
