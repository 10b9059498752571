import CLinux
import Glibc
package import InletCore

// Unsafe: passes the body of a thread through a pointer.
/// Starts threads for blocking work, such as a source or a sink.
///
/// A plain thread rather than a dispatch queue: blocking code must not occupy a worker of a pool that others share, and
/// the thread's name is shown in `top -H` and in debuggers.
package enum SystemThread {
    /// Starts a detached thread that runs `body` once.
    ///
    /// - Parameters:
    ///   - name: the thread's name, cut to the 15 bytes that Linux keeps.
    ///   - account: the account to which its processor time is added; nil, the default, for the account of the calling
    ///     thread, if that has one.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses another thread.
    package static func start(
        named name: String, account: ProcessorAccount? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(InletError) {
        let box = Box(name: name, account: account ?? ProcessorAccount.current, body: body)
        let argument = unsafe Unmanaged.passRetained(box).toOpaque()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let status = unsafe pthread_create(&thread, &attributes, { unsafe SystemThread.main($0) }, argument)
        guard status == 0 else {
            unsafe Unmanaged<Box>.fromOpaque(argument).release()
            throw InletError(
                .resourceExhausted,
                "The system refuses another thread. Stop some sources, or raise the limit (ulimit -u).",
                context: .init(operation: "pthread_create", nativeCode: status))
        }
    }

    private final class Box: Sendable {
        let name: String
        let account: ProcessorAccount?
        let body: @Sendable () -> Void

        init(name: String, account: ProcessorAccount?, body: @escaping @Sendable () -> Void) {
            (self.name, self.account, self.body) = (name, account, body)
        }
    }

    private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument = unsafe argument else { return nil }
        let box = unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
        let name = String(decoding: box.name.utf8.prefix(15), as: UTF8.self)
        unsafe pthread_setname_np(pthread_self(), name)
        if let account = box.account { account.run(box.body) } else { box.body() }
        return nil
    }
}
