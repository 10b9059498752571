import Synchronization

#if os(Linux)
    import CLinux
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The processor time of all threads that work for one thing, such as a camera. Safe from any thread.
///
/// A ``SystemThread`` that a thread of the account starts belongs to it as well, and so do the threads that a library
/// starts inside ``adoptingThreads(_:)``. It counts nothing on systems other than Linux.
package final class ProcessorAccount: Sendable {
    /// The account of the thread that reads this; nil if it has none.
    @TaskLocal package static var current: ProcessorAccount?

    private let state = Mutex(State())

    private struct State {
        /// The threads, with the time that each had used when it was read last.
        var threads: [Int32: Duration] = [:]
        /// The time of the threads that have ended.
        var ended = Duration.zero
    }

    package init() {}

    /// The time that was used so far.
    package var time: Duration {
        state.withLock { state in
            for (thread, last) in state.threads {
                // What a thread had used when its number was given to another one is kept.
                guard let now = ProcessorClock.thread(thread), now >= last else {
                    state.threads[thread] = nil
                    state.ended += last
                    _ = Self.members.withLock { $0.remove(thread) }
                    continue
                }
                state.threads[thread] = now
            }
            return state.threads.values.reduce(state.ended, +)
        }
    }

    /// Counts the calling thread during `body`, and the threads that it starts.
    func run(_ body: () -> Void) {
        let number = ProcessorClock.currentThread
        add(number)
        Self.$current.withValue(self, operation: body)
        remove(number)
    }

    /// Runs a function of a library that starts threads, and counts those to the account of the calling thread.
    ///
    /// A thread that something else starts meanwhile, and that is in no account, is counted as well.
    ///
    /// - Returns: the result, and the threads: release them before the library ends them.
    package static func adoptingThreads<Value>(_ body: () -> Value) -> (Value, AdoptedThreads?) {
        guard let account = current else { return (body(), nil) }
        let before = ProcessorClock.threads
        let value = body()
        let new = ProcessorClock.threads.subtracting(before).filter { account.add($0) }
        return (value, new.isEmpty ? nil : AdoptedThreads(account: account, numbers: new))
    }

    /// Threads of a library.
    package struct AdoptedThreads: Sendable {
        fileprivate let account: ProcessorAccount
        fileprivate let numbers: Set<Int32>

        /// Keeps what they have used: they are about to end.
        package func release() { for number in numbers { account.remove(number) } }
    }

    /// The threads that are in an account.
    private static let members = Mutex(Set<Int32>())

    /// - Returns: whether the thread is new to all accounts.
    @discardableResult
    private func add(_ thread: Int32) -> Bool {
        guard Self.members.withLock({ $0.insert(thread).inserted }) else { return false }
        state.withLock { $0.threads[thread] = .zero }
        return true
    }

    private func remove(_ thread: Int32) {
        let now = ProcessorClock.thread(thread)
        _ = Self.members.withLock { $0.remove(thread) }
        state.withLock { state in
            guard let last = state.threads.removeValue(forKey: thread) else { return }
            state.ended += max(last, now ?? .zero)
        }
    }
}

/// The system's clocks of processor time.
package enum ProcessorClock {
    #if os(Linux)
        /// The number of the calling thread.
        static var currentThread: Int32 { inlet_thread_number() }

        /// The time that a thread of this process has used; nil if there is none of that number.
        static func thread(_ number: Int32) -> Duration? { time(of: ~number << 3 | perThread | scheduler) }

        /// The time that a process has used, with all its threads; nil if there is none of that number.
        package static func process(_ number: Int32) -> Duration? { time(of: ~number << 3 | scheduler) }

        /// The time that this process has used, with all its threads.
        package static var process: Duration { time(of: CLOCK_PROCESS_CPUTIME_ID) ?? .zero }

        /// How the kernel makes a clock of a thread's or a process's number (linux/posix-timers.h, CPUCLOCK_SCHED and
        /// CPUCLOCK_PERTHREAD_MASK).
        private static let (scheduler, perThread): (Int32, Int32) = (2, 4)

        private static func time(of clock: clockid_t) -> Duration? {
            var time = timespec()
            guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        /// The numbers of all threads of this process.
        static var threads: Set<Int32> {
            guard let folder = unsafe opendir("/proc/self/task") else { return [] }
            defer { unsafe closedir(folder) }
            var numbers: Set<Int32> = []
            while let entry = unsafe readdir(folder) {
                let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if let number = Int32(name) { numbers.insert(number) }
            }
            return numbers
        }
    #else
        static var currentThread: Int32 { 0 }
        static func thread(_ number: Int32) -> Duration? { nil }
        package static func process(_ number: Int32) -> Duration? { nil }
        package static var process: Duration { .zero }
        static var threads: Set<Int32> { [] }
    #endif
}
