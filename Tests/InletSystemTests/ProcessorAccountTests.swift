#if os(Linux)
    import Foundation
    import InletSystem
    import Synchronization
    import Testing

    /// Processor time by what it is used for, beside the kernel's own figures.
    @Suite(.timeLimit(.minutes(5))) struct ProcessorAccountTests {
        /// Uses the processor for a time of it, and returns the kernel's figure for the calling thread.
        private static func work(_ seconds: Double) -> Double {
            while own() < seconds { _ = (0..<10_000).reduce(0, &+) }
            return own()
        }

        /// What the calling thread has used by the scheduler's own figure, in nanoseconds (proc_pid_schedstat(5)).
        private static func own() -> Double {
            let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8)
            return (text?.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
        }

        @Test("An account has the time of its threads, of those that they start, and of those that have ended")
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
            // What has ended stays.
            #expect(account.time / .seconds(1) >= before)
            #expect(ProcessorClock.process / .seconds(1) >= 0.34)
            let process = try #require(ProcessorClock.process(getpid()))
            #expect(process >= .milliseconds(340))
            // Linux gives no process a number so high (PID_MAX_LIMIT).
            #expect(ProcessorClock.process(4_194_304) == nil)
        }

        @Test("Threads that a library starts count to the account of the thread that calls it")
        func adopted() throws {
            let account = ProcessorAccount()
            let (hasStarted, mayEnd, hasEnded) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            try SystemThread.start(named: "caller", account: account) {
                let (_, threads) = ProcessorAccount.adoptingThreads {
                    // A thread that knows no account, as a library's.
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
    }
#endif
