import CLinux
import Glibc
import InletCore

// Unsafe: owns a pipe.
/// Cancels a child process: a pipe, of which the child gets the reading end.
///
/// Unlike an eventfd, a pipe has separate flags and contents at each end: nothing that the child does with its end
/// makes ``raise()`` block.
final class CancelSignal: Sendable {
    /// The end for reading, which the child polls.
    let descriptor: Int32
    private let writeEnd: Int32

    /// - Throws: ``InletError/Code/resourceExhausted`` if the process has no descriptor left.
    init() throws(InletError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else {
            throw InletError(
                .resourceExhausted,
                "No file descriptor is left to cancel a plug-in by. Raise the limit (ulimit -n) or stop some sources.",
                context: .init(operation: "pipe2", nativeCode: errno))
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Makes the child's descriptor readable. Safe from any thread, and does not block.
    func raise() {
        var byte: UInt8 = 1
        _ = unsafe write(writeEnd, &byte, 1)
    }
}
