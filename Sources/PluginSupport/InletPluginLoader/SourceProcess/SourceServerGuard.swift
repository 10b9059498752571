import CLinux
import Glibc
import InletCore
import InletSystem

// Unsafe: writes to standard error and reads a file in `/proc`.
/// Ends the child when Inlet is gone or the memory limit is passed, also while the source hangs.
enum SourceServerGuard {
    /// How long the source has to close its device properly when Inlet is gone.
    private static let grace = Duration.milliseconds(500)
    /// The interval between checks of the memory.
    private static let interval = Duration.milliseconds(200)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - descriptor: the connection to Inlet.
    ///   - memoryLimit: the most bytes of private memory of the process; nil for no limit.
    static func start(watching descriptor: Int32, memoryLimit: Int?) throws(InletError) {
        if let memoryLimit {
            // The system refuses allocations that are faster than the checks.
            let ceiling = UInt64(memoryLimit).addingReportingOverflow(UInt64(memoryLimit) + (256 << 20))
            _ = inlet_lower_limit(Int32(INLET_LIMIT_DATA), ceiling.overflow ? .max : ceiling.partialValue)
            _ = inlet_lower_limit(Int32(INLET_LIMIT_CORE), 0)
        }
        let memory = memoryLimit.flatMap { _ in OwnMemory() }
        try SystemThread.start(named: "inlet-guard") {
            while true {
                // Without requested events, poll reports only the closing of the other end.
                let wait = memory == nil ? Duration.seconds(3600) : interval
                if SourceServerChannel.wait(descriptor, 0, for: wait) != 0 { break }
                if let memoryLimit, let used = memory?.bytes, used > memoryLimit { exceed(used, memoryLimit) }
            }
            // The session closes the source now, and then ends the process.
            _ = SourceServerChannel.wait(-1, 0, for: grace)
            _exit(SourceServer.ExitCode.gone)
        }
    }

    private static func exceed(_ used: Int, _ limit: Int) -> Never {
        // Inlet reads it as the last output of the process.
        var text = "\(used / 1_000_000) MB of memory were in use, of \(limit / 1_000_000) MB\n"
        _ = text.withUTF8 { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        _exit(SourceServer.ExitCode.memory)
    }
}

/// Reads the private memory of this process, without memory shared with files and other processes.
final class OwnMemory: Sendable {
    private let descriptor: Int32
    private let pageSize = max(1, sysconf(Int32(_SC_PAGESIZE)))

    /// - Returns: nil if /proc is not mounted.
    init?() {
        descriptor = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// The bytes; nil if they are not known.
    var bytes: Int? {
        let text = unsafe withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { block in
            let count = unsafe pread(descriptor, block.baseAddress, block.count, 0)
            return unsafe Array(block.prefix(max(0, count)))
        }
        // proc_pid_statm(5): size, resident, shared ...
        let numbers = text.split(separator: UInt8(ascii: " ")).prefix(3).compactMap {
            TextBytes.number($0, upTo: 1 << 40)
        }
        guard numbers.count == 3 else { return nil }
        return max(0, numbers[1] - numbers[2]) * pageSize
    }
}
