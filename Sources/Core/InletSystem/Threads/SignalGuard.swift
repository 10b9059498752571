// Makes the types of the C library visible to the compiler.
import CLinux
import Glibc

// Unsafe: blocks and collects signals of its thread.
/// Keeps a write from killing the process: a pipe without a reader raises SIGPIPE, a file at its size limit SIGXFSZ,
/// and both end a program that does not handle them. A library may not change signal handling for the whole process, so
/// the calling thread blocks the two for the length of the call and discards those that the call raised.
package enum SignalGuard {
    /// Runs a system call.
    ///
    /// - Returns: its result, and the resulting `errno`.
    package static func run(_ call: () -> Int) -> (result: Int, error: Int32) {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe sigaddset(&signals, SIGXFSZ)
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
        errno = 0
        let result = call()
        let error = errno
        if result < 0, error == EPIPE || error == EFBIG {
            // The signal went only to this thread and is still pending. If no signal is pending (it may be ignored),
            // this does not wait.
            takePending(&signals)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        return (result, error)
    }

    private static func takePending(_ signals: inout sigset_t) {
        var atOnce = timespec(tv_sec: 0, tv_nsec: 0)
        unsafe sigtimedwait(&signals, nil, &atOnce)
    }
}
