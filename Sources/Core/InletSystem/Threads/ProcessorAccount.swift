import CLinux
import Dispatch
import Glibc
import InletCore
import Synchronization

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

    /// The processor time used so far.
    package var time: Duration {
        state.withLock { state in
            for (thread, last) in state.threads {
                // The thread's number was given to another one; the time that the first had used is kept.
                guard let now = ProcessorClock.thread(thread), now >= last else {
                    state.threads[thread] = nil
                    state.ended += last
                    Self.forget(thread, of: self)
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
    /// A library's threads are recognized by their names. A thread without a given name has that of the thread that
    /// started it, which is a special one during `body`. Threads named by libavcodec or libdav1d are counted only if no
    /// other thread is in this function, which is waited for, for a second at most.
    ///
    /// - Returns: the result, and the threads: release them before the library ends them.
    package static func adoptingThreads<Value>(_ body: () -> Value) -> (Value, AdoptedThreads?) {
        guard let account = current else { return (body(), nil) }
        // Opening a codec may take longer than that.
        let isAlone = adoption.wait(timeout: .now() + .seconds(1)) == .success
        defer { if isAlone { adoption.signal() } }
        let before = ProcessorClock.threads
        let (value, mark) = ProcessorClock.markingThreads(body)
        let new = ProcessorClock.threads.subtracting(before).filter { thread in
            guard let name = ProcessorClock.name(of: thread) else { return false }
            let isNamed = isAlone && codecNames.contains { name.hasBytePrefix($0) }
            return (name == mark || isNamed) && account.adopt(thread)
        }
        return (value, new.isEmpty ? nil : AdoptedThreads(account: account, numbers: new))
    }

    /// The prefixes of the names that libavcodec and libdav1d give.
    private static let codecNames = ["av:", "dav1d"]

    /// One thread at a time looks for threads that have no mark.
    private static let adoption = DispatchSemaphore(value: 1)

    /// Threads of a library.
    package struct AdoptedThreads: Sendable {
        fileprivate let account: ProcessorAccount
        fileprivate let numbers: Set<Int32>

        /// Keeps the time of these threads, which are about to end.
        package func release() { for number in numbers { account.remove(number) } }
    }

    /// The threads that belong to an account.
    private static let members = Mutex<[Int32: Member]>([:])

    private struct Member {
        var account: ProcessorAccount
        /// Whether the thread added itself, and was not found after a library's function.
        var isCertain: Bool
    }

    /// Counts a thread from now on, and removes it from any other account.
    private func add(_ thread: Int32) { enter(thread, isCertain: true) }

    /// - Returns: whether the thread is counted; it is not if it has added itself to an account.
    private func adopt(_ thread: Int32) -> Bool { enter(thread, isCertain: false) }

    @discardableResult
    private func enter(_ thread: Int32, isCertain: Bool) -> Bool {
        let (isTaken, previous) = Self.members.withLock { members in
            let previous = members[thread]
            guard isCertain || previous?.isCertain != true else { return (false, ProcessorAccount?.none) }
            members[thread] = Member(account: self, isCertain: isCertain)
            return (true, previous?.account)
        }
        guard isTaken else { return false }
        if let previous, previous !== self { previous.drop(thread) }
        state.withLock { state in
            let last = state.threads.updateValue(.zero, forKey: thread) ?? .zero
            // The number belonged to another thread before.
            if ProcessorClock.thread(thread) ?? .zero < last { state.ended += last }
        }
        return true
    }

    private func remove(_ thread: Int32) {
        let now = ProcessorClock.thread(thread)
        Self.forget(thread, of: self)
        state.withLock { state in
            guard let last = state.threads.removeValue(forKey: thread) else { return }
            state.ended += max(last, now ?? .zero)
        }
    }

    /// Stops counting a thread, which belongs to another account now. The time at its last reading is kept.
    private func drop(_ thread: Int32) {
        state.withLock { state in
            if let last = state.threads.removeValue(forKey: thread) { state.ended += last }
        }
    }

    private static func forget(_ thread: Int32, of account: ProcessorAccount) {
        members.withLock { if $0[thread]?.account === account { $0[thread] = nil } }
    }
}

// Unsafe: reads the clocks and names of threads.
/// The system's clocks of processor time.
package enum ProcessorClock {
    /// The number of the calling thread.
    static var currentThread: Int32 { inlet_thread_number() }

    /// The time that the calling thread has used.
    package static var currentThreadTime: Duration { time(of: CLOCK_THREAD_CPUTIME_ID) ?? .zero }

    /// The time that a thread of this process has used; nil if no thread has that number.
    static func thread(_ number: Int32) -> Duration? { time(of: ~number << 3 | perThread | scheduler) }

    /// The time that a process has used, with all its threads; nil if no process has that number.
    package static func process(_ number: Int32) -> Duration? { time(of: ~number << 3 | scheduler) }

    /// The time that this process has used, with all its threads.
    package static var process: Duration { time(of: CLOCK_PROCESS_CPUTIME_ID) ?? .zero }

    /// The kernel's encoding of a thread's or a process's clock by its number (linux/posix-timers.h, CPUCLOCK_SCHED
    /// and CPUCLOCK_PERTHREAD_MASK).
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

    /// The name of a thread of this process; nil if no thread has that number.
    static func name(of thread: Int32) -> String? {
        let file = unsafe open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            let count = unsafe read(file, bytes.baseAddress, bytes.count)
            return count > 0 ? unsafe String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self) : nil
        }
    }

    /// Runs a function, and gives the threads that it starts a name by which they can be recognized.
    ///
    /// - Returns: the result, and the name.
    static func markingThreads<Value>(_ body: () -> Value) -> (Value, mark: String?) {
        let (name, mark) = (name(of: currentThread), "codec-\(currentThread)")
        unsafe pthread_setname_np(pthread_self(), mark)
        defer { if let name { unsafe pthread_setname_np(pthread_self(), name) } }
        return (body(), mark)
    }
}
