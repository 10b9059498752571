import Glibc
package import InletCore
import InletSystem

extension InletError {
    /// Makes the error for a failed system call on an output file, with what to try.
    ///
    /// - Parameters:
    ///   - number: the `errno` it left.
    ///   - operation: the call, such as `write`.
    ///   - path: the file's path, for people.
    package init(errno number: Int32, operation: String, path: String) {
        let (code, advice): (Code, String) =
            switch number {
            case ENOENT, ENOTDIR: (.notFound, "The folder of the path does not exist; create it first.")
            case EACCES, EPERM:
                (.permissionDenied, "The system refuses access; check the owner and mode of the file and its folder.")
            case EROFS: (.permissionDenied, "The file system is read-only; choose another folder.")
            case EISDIR: (.invalidConfiguration, "The path is a folder; add a file name.")
            case ELOOP:
                (
                    .invalidConfiguration,
                    "The path is a symbolic link, which is not followed: its creator would decide where the data goes. "
                        + "Give the path of its target."
                )
            case ENAMETOOLONG: (.invalidConfiguration, "The path cannot be followed; choose a shorter one.")
            case ENXIO: (.notFound, "Nothing reads from the pipe, or its device is gone; start the reader first.")
            case ENOSPC: (.resourceExhausted, "The disk is full; free some space or write elsewhere.")
            case EDQUOT: (.resourceExhausted, "The disk quota is used up; free some space or write elsewhere.")
            case EFBIG:
                (.resourceExhausted, "The file would exceed a size limit; raise it (ulimit -f) or write elsewhere.")
            case EMFILE, ENFILE: (.resourceExhausted, "Too many files are open; close some or raise ulimit -n.")
            case ENOMEM, ENOBUFS: (.resourceExhausted, "The system is out of memory.")
            case ETXTBSY, EBUSY: (.busy, "Another program uses it; choose another path.")
            case EPIPE: (.disconnected, "The reader has closed.")
            case EBADF: (.notFound, "The file is not open for writing.")
            case EIO: (.inputOutput, "The device reports an error; check the system's log.")
            default: (.inputOutput, "")
            }
        let reason = SystemErrorText.of(number)
        self.init(
            code, "Cannot \(operation) \(path): \(reason).\(advice.isEmpty ? "" : " " + advice)",
            context: Context(operation: operation, nativeCode: number))
    }
}
