import Glibc
import SwiftOverlayShims

// Unsafe: writes to standard error and reads resource usage.
/// Standard error and the terminal.
enum Terminal {
    /// Whether standard error is a terminal.
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard input is a terminal.
    static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    /// The width of the terminal in characters; 80 if it is not known.
    static var width: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Makes a write to a pipe without a reader fail instead of ending the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    static func writeError(_ text: String) { writeAll(text, to: STDERR_FILENO) }

    /// Writes to standard output at once, for output that another program waits for.
    static func writeOutput(_ text: String) { writeAll(text, to: STDOUT_FILENO) }

    private static func writeAll(_ text: String, to descriptor: Int32) {
        var rest = ArraySlice(text.utf8)
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe write(descriptor, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The processor time of the whole process in seconds, and the most resident memory in KiB.
    static var resourceUsage: (cpuSeconds: Double, peakResidentKiB: Int) {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let kibibytes = usage.ru_maxrss
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        return (seconds + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6, kibibytes)
    }
}
