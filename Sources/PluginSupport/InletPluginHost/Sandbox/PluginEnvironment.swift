import CInletPlugin
import Glibc
import InletCore
import InletSystem

// Unsafe: owns the table of functions that a plug-in may call.
/// The host's functions and data that a plug-in has while it is loaded.
@safe enum PluginEnvironment {
    /// Makes the host's struct, which is never freed.
    static func host() -> UnsafePointer<inlet_host> {
        _ = mainThread
        let host = UnsafeMutablePointer<inlet_host>.allocate(capacity: 1)
        unsafe host.initialize(
            to: inlet_host(
                size: UInt32(MemoryLayout<inlet_host>.size), major: UInt16(INLET_PLUGIN_MAJOR),
                minor: UInt16(INLET_PLUGIN_MINOR), name: lasting("inlet"), version: lasting(InletVersion.current),
                log: { level, text in
                    unsafe HostChannel.shared.log(level, PluginText.read(text))
                },
                now: { MonotonicTime.now.nanoseconds },
                get_extension: { id in
                    guard unsafe PluginText.read(id) == INLET_THREAD_CHECK_ID else { return nil }
                    return unsafe UnsafeRawPointer(PluginEnvironment.threadCheck)
                }))
        return unsafe UnsafePointer(host)
    }

    /// The thread that calls the plug-in: the process's first. Read before any other thread exists.
    private static let mainThread = pthread_self()

    // Written once, before a plug-in can see it, and only read from then on.
    nonisolated(unsafe) private static let threadCheck: UnsafeMutablePointer<inlet_thread_check> = {
        let check = UnsafeMutablePointer<inlet_thread_check>.allocate(capacity: 1)
        unsafe check.initialize(
            to: inlet_thread_check(
                size: UInt32(MemoryLayout<inlet_thread_check>.size), reserved: 0,
                // The same thread does both.
                is_control: { PluginEnvironment.isMainThread ? 1 : 0 },
                is_capture: { PluginEnvironment.isMainThread ? 1 : 0 }))
        return unsafe check
    }()

    /// Whether this is the thread that calls the plug-in.
    static var isMainThread: Bool { pthread_equal(pthread_self(), mainThread) != 0 }

    private static func lasting(_ text: String) -> UnsafePointer<CChar>? { unsafe UnsafePointer(strdup(text)) }
}
