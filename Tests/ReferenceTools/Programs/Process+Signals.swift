public import Foundation

extension Process {
    /// Starts the program with no signal blocked. Threads that run tests block signals, and programs and their children
    /// inherit that: SIGTERM would not end them.
    public func runUnblocked() throws {
        var (mask, none) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &mask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
        try run()
    }
}
