import CLinux
import Glibc
import InletCore
import InletSystem

/// Ends the process when Inlet is gone, also while the plug-in hangs.
enum Watchdog {
    /// The time that the plug-in has to leave its device in order.
    private static let grace: Int64 = 500_000_000

    /// Starts the thread that watches the connection. It takes what the sandbox allows, so this comes after that.
    ///
    /// - Parameter wake: makes the descriptor readable on which the plug-in waits for its cancellation.
    static func start(watching descriptor: Int32, wake: @escaping @Sendable () -> Void) throws(InletError) {
        try SystemThread.start(named: "inlet-watchdog") {
            var isGone = false
            // Without requested events, poll reports only that the other end closed, so this thread does not wake for
            // each message.
            while !isGone { isGone = Descriptors.wait(for: [descriptor], 0, until: .max)[0] != 0 }
            // The main thread closes the plug-in now, and then ends the process.
            wake()
            let end = MonotonicTime.now.nanoseconds + grace
            while MonotonicTime.now.nanoseconds < end { Descriptors.wait(for: [], 0, until: end) }
            _exit(ExitCode.gone)
        }
    }
}
