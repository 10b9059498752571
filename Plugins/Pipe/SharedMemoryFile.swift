import CLinux
import Glibc
import InletCore
import InletOutput

// Unsafe: owns a shared-memory file.
/// Owns a file of shared memory, and the lock on it that shows that its writer is alive.
///
/// The memory gets its name when it is complete, so that a process that opens the name never sees part of it. The
/// system releases the lock when the process ends in any way. A process ID would be less reliable: it means nothing in
/// another container, and is reused after a while.
@safe final class SharedMemoryFile {
    let descriptor: Int32
    private let name: String

    /// The length of the part of the header that other writers need.
    static let headerBytes = 64

    deinit { close(descriptor) }

    private static let folder = "/dev/shm"
    private var path: String { Self.folder + name }

    /// Creates memory of a size, without a name yet.
    ///
    /// - Parameters:
    ///   - name: the future name, with a leading slash.
    ///   - mode: the permissions.
    init(name: String, byteCount: Int, mode: mode_t) throws(InletError) {
        self.name = name
        // No other process can have it open, so the lock is free.
        descriptor = unsafe open(Self.folder, inlet_o_tmpfile | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw InletError(sharedMemory: name, "open", errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw InletError(sharedMemory: name, "flock", errno)
        }
        // Allocated at once, so that a full /dev/shm is an error here and not a SIGBUS later.
        let status = posix_fallocate(descriptor, 0, off_t(byteCount))
        guard status == 0 else { throw InletError(sharedMemory: name, "posix_fallocate", status) }
        // Makes the mode independent of the umask.
        guard fchmod(descriptor, mode) == 0 else { throw InletError(sharedMemory: name, "fchmod", errno) }
    }

    /// Gives the memory its name, taking it over from a dead writer if necessary.
    ///
    /// - Throws: ``InletError/Code/busy`` if a living writer, or memory of another kind, has the name.
    func publish() throws(InletError) {
        var reason: InletError?
        // Others may appear and disappear between two calls, and one that only checks holds its lock briefly.
        for attempt in 0..<20 {
            if attempt > 0 { usleep(2000) }
            if link(to: path) { return }
            guard errno == EEXIST else { throw InletError(sharedMemory: name, "linkat", errno) }
            reason = try removeLeftover()
        }
        throw reason ?? InletError(sharedMemory: name, "linkat", EEXIST)
    }

    /// Takes over the name from memory that this process owns. The name exists at every moment.
    func replace() throws(InletError) {
        let temporary = "\(Self.folder)/.inlet-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        guard link(to: temporary) else { throw InletError(sharedMemory: name, "linkat", errno) }
        guard unsafe rename(temporary, path) != 0 else { return }
        let number = errno
        unsafe unlink(temporary)
        throw InletError(sharedMemory: name, "rename", number)
    }

    /// Removes the name if it is still this memory's.
    func unpublish() {
        if Self.isSame(descriptor, as: path) { unsafe unlink(path) }
    }

    private func link(to path: String) -> Bool {
        unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }

    /// Removes the name of memory whose writer is dead.
    ///
    /// - Returns: the error if the name stays taken; nil if it is free now.
    private func removeLeftover() throws(InletError) -> InletError? {
        let other = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard other >= 0 else {
            guard errno == ENOENT else { throw InletError(sharedMemory: name, "open", errno) }
            return nil
        }
        defer { close(other) }
        var header = [UInt8](repeating: 0, count: Self.headerBytes)
        let count = unsafe pread(other, &header, header.count, 0)
        let (magic, writer) = unsafe header.withUnsafeBytes { bytes in
            unsafe (
                bytes.load(as: UInt64.self),
                bytes.load(fromByteOffset: SharedMemoryLayout.Header.writer, as: Int32.self)
            )
        }
        guard count == header.count, magic == SharedMemoryLayout.magic else {
            throw InletError(
                .busy,
                "The shared memory \(name) exists, but its format is not Inlet's. "
                    + "Choose another name, or remove \(path)."
            )
        }
        guard flock(other, LOCK_EX | LOCK_NB) == 0 else {
            guard flock(other, LOCK_SH | LOCK_NB) == 0 else {
                return InletError(
                    .busy, "Process \(writer) already writes to the shared memory \(name). Choose another name.")
            }
            return InletError(
                .busy,
                "The writer of the shared memory \(name) is gone, but a reader keeps it locked. Remove \(path).")
        }
        // Only the holder of this memory's lock, which is now this process, removes the name, so no other process
        // does so between these two calls.
        if Self.isSame(other, as: path) { unsafe unlink(path) }
        return nil
    }

    private static func isSame(_ descriptor: Int32, as path: String) -> Bool {
        var (own, named) = (stat(), stat())
        return unsafe fstat(descriptor, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }
}
