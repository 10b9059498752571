import CXCB
import Glibc
import InletCore
import InletSystem
import Synchronization

// Unsafe: passes a libxcb connection between threads.
/// Connects to an X server on a separate thread, because libxcb waits for a server's greeting without a time
/// limit.
///
/// The last user closes the connection: the caller if it received the connection, otherwise the connecting thread.
@safe final class XConnecting: Sendable {
    private struct State {
        var isDone = false
        var isAbandoned = false
    }

    private let display: String?
    private let state = Mutex(State())
    // Written by the connecting thread until `isDone` is set, and read by the waiting thread after that.
    nonisolated(unsafe) private var connection: OpaquePointer?
    nonisolated(unsafe) private var screen: Int32 = 0
    private let done: WakeUpSignal

    /// The number of abandoned threads, which is limited because a server may never answer.
    private static let abandoned = Atomic(0)
    private static let mostAbandoned = 8

    init(_ display: String?) throws(InletError) {
        self.display = display
        done = try WakeUpSignal()
        guard Self.abandoned.load(ordering: .relaxed) < Self.mostAbandoned else {
            throw InletError(.resourceExhausted, "Too many connections are waiting for silent X servers.")
        }
    }

    /// Connects and waits for the result.
    ///
    /// - Returns: a connection, which the caller closes and which may have failed, and the number of the screen.
    /// - Throws: ``InletError/Code/timedOut`` or ``InletError/Code/cancelled``, as the context requires.
    @unsafe func run(_ context: SourceContext) throws(InletError) -> (connection: OpaquePointer, screen: Int32) {
        try SystemThread.start(named: "inlet-screen") { self.connect() }
        while true {
            var polled = [
                pollfd(fd: done.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&polled, 2, 50)
            let isDone = state.withLock { state in
                if !state.isDone, context.shouldGiveUp { state.isAbandoned = true }
                return state.isDone
            }
            if isDone, let connection = unsafe connection { return unsafe (connection, screen) }
            guard context.shouldGiveUp else { continue }
            Self.abandoned.add(1, ordering: .relaxed)
            try context.checkCancellation()
            throw InletError(.timedOut, "The X server did not answer in time.")
        }
    }

    private func connect() {
        guard let made = unsafe inlet_xcb_connect(display, &screen) else { return }
        unsafe connection = made
        let isAbandoned = state.withLock { state in
            state.isDone = true
            return state.isAbandoned
        }
        done.raise()
        guard isAbandoned else { return }
        unsafe inlet_xcb_disconnect(made)
        Self.abandoned.subtract(1, ordering: .relaxed)
    }
}
