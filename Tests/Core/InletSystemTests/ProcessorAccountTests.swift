import Foundation
import InletSystem
import Synchronization
import Testing

/// Compares processor time by its use with the kernel's own figures.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProcessorAccountTests {
    /// Uses the given processor time, and returns the kernel's figure for the calling thread.
    private static func work(_ seconds: Double) -> Double {
        while own() < seconds { _ = (0..<10_000).reduce(0, &+) }
        return own()
    }

    /// The processor time of the calling thread according to the scheduler, in nanoseconds (proc_pid_schedstat(5)).
    private static func own() -> Double {
        let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8)
        return (text?.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }

    @Test("An account includes its threads, the threads that these start, and ended threads")
    func threads() throws {
        let (account, other) = (ProcessorAccount(), ProcessorAccount())
        let figures = Mutex<[Double]>([])
        let (goOn, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func start(_ seconds: Double, _ account: ProcessorAccount?) throws {
            try SystemThread.start(named: "outer", account: account) {
                try? SystemThread.start(named: "inner") {
                    let figure = Self.work(seconds)
                    figures.withLock { $0.append(figure) }
                    goOn.signal()
                    mayEnd.wait()
                    goOn.signal()
                }
            }
        }
        try start(0.2, account)
        try start(0.1, nil)
        try start(0.05, other)
        for _ in 0..<3 { goOn.wait() }
        let before = account.time / .seconds(1)
        #expect(before >= 0.19 && before < 0.3, "\(before) \(figures.withLock { $0 })")
        let least = other.time / .seconds(1)
        #expect(least >= 0.045 && least < 0.15)
        for _ in 0..<3 { mayEnd.signal() }
        for _ in 0..<3 { goOn.wait() }
        // Ended threads still count.
        #expect(account.time / .seconds(1) >= before)
        #expect(ProcessorClock.process / .seconds(1) >= 0.34)
        let process = try #require(ProcessorClock.process(getpid()))
        #expect(process >= .milliseconds(340))
        // Linux never uses so high a process number (PID_MAX_LIMIT).
        #expect(ProcessorClock.process(4_194_304) == nil)
    }

    @Test("Threads that a library starts count towards the account of the calling thread")
    func adopted() throws {
        let account = ProcessorAccount()
        let (hasStarted, mayEnd, hasEnded) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        try SystemThread.start(named: "caller", account: account) {
            let (_, threads) = ProcessorAccount.adoptingThreads {
                // A thread without an account, like a library's.
                Thread.detachNewThread {
                    _ = Self.work(0.2)
                    hasStarted.signal()
                    mayEnd.wait()
                }
            }
            hasStarted.wait()
            threads?.release()
            mayEnd.signal()
            hasEnded.signal()
        }
        hasEnded.wait()
        #expect(account.time / .seconds(1) >= 0.19)
    }

    @Test("If two threads call a library at once, each is charged only for the threads that it starts for them")
    func adoptedAtOnce() throws {
        /// A library's thread, which works and then remains.
        final class Library: Sendable {
            let (hasStarted, hasWorked, mayEnd) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )

            func start(_ seconds: Double, named name: String? = nil) {
                Thread.detachNewThread { [self] in
                    if let name {
                        FileHandle(forWritingAtPath: "/proc/thread-self/comm")?.write(Data(name.utf8))
                    }
                    hasStarted.signal()
                    _ = ProcessorAccountTests.work(seconds)
                    hasWorked.signal()
                    mayEnd.wait()
                }
                hasStarted.wait()
            }
        }
        let (first, second, third) = (ProcessorAccount(), ProcessorAccount(), ProcessorAccount())
        let library = Library()
        let (isInFirst, hasBothStarted, isOut, mayEnd) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0),
            DispatchSemaphore(value: 0)
        )
        try SystemThread.start(named: "first", account: first) {
            let (_, threads) = ProcessorAccount.adoptingThreads {
                // One thread has the name that libavcodec uses.
                library.start(0.1)
                library.start(0.1, named: "av:h264:df0")
                isInFirst.signal()
                hasBothStarted.wait()
            }
            isOut.signal()
            mayEnd.wait()
            threads?.release()
            isOut.signal()
        }
        isInFirst.wait()
        // These threads do not belong to the library: one without an account, and one of a third account.
        library.start(0.5)
        try SystemThread.start(named: "third", account: third) {
            library.hasStarted.signal()
            _ = Self.work(0.05)
            library.hasWorked.signal()
            library.mayEnd.wait()
        }
        library.hasStarted.wait()
        try SystemThread.start(named: "second", account: second) {
            let (_, threads) = ProcessorAccount.adoptingThreads { library.start(0.3) }
            hasBothStarted.signal()
            isOut.signal()
            mayEnd.wait()
            threads?.release()
            isOut.signal()
        }
        for _ in 0..<2 { isOut.wait() }
        for _ in 0..<5 { library.hasWorked.wait() }
        let times = [first, second, third].map { $0.time / .seconds(1) }
        // The callers themselves use little time.
        #expect(times[0] >= 0.19 && times[0] < 0.29, "\(times)")
        #expect(times[1] >= 0.29 && times[1] < 0.39, "\(times)")
        #expect(times[2] >= 0.045 && times[2] < 0.095, "\(times)")
        for _ in 0..<2 { mayEnd.signal() }
        for _ in 0..<2 { isOut.wait() }
        for _ in 0..<5 { library.mayEnd.signal() }
    }
}
