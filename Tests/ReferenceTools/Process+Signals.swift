public import Foundation

extension Process {
    /// Starts the program, with no signal blocked: threads that run tests block them, and a program inherits that, with
    /// those that it starts. None of them would end by SIGTERM.
    public func runUnblocked() throws {
        var (mask, none) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &mask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
        try run()
    }
}
