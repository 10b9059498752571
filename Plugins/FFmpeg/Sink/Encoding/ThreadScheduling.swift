import Glibc

// Unsafe: reads and sets the scheduling of threads.
/// Prevents a library from giving threads real-time priority.
///
/// SVT-AV1 gives its own threads and the one that opens it the highest priority of SCHED_FIFO if it may, as root (1.4,
/// EbEncHandle.c and EbThreads.c). An encoder that is too slow for its pictures would then starve the source, the
/// other sinks or a shell.
enum ThreadScheduling {
    /// Calls `body`, then restores this thread's scheduling and applies it to new threads.
    static func kept<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        var policy: Int32 = 0
        var parameters = sched_param()
        unsafe pthread_getschedparam(pthread_self(), &policy, &parameters)
        guard policy == SCHED_OTHER else { return try body() }
        let before = Set(threads)
        defer {
            unsafe pthread_setschedparam(pthread_self(), policy, &parameters)
            for thread in threads where !before.contains(thread) && sched_getscheduler(thread) == SCHED_FIFO {
                unsafe sched_setscheduler(thread, policy, &parameters)
            }
        }
        return try body()
    }

    /// The IDs of the process's threads.
    private static var threads: [pid_t] {
        guard let folder = unsafe opendir("/proc/self/task") else { return [] }
        defer { unsafe closedir(folder) }
        var found: [pid_t] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let thread = pid_t(name) { found.append(thread) }
        }
        return found
    }
}
