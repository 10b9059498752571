import CV4L2
import Glibc
package import InletCore

// Unsafe: owns an inotify descriptor.
/// Watches for device nodes that appear and disappear, without polling: owns an inotify descriptor on `/dev`.
///
/// The kernel's own file system of devices reports them, with or without udev, and in containers, too.
@safe package final class DeviceWatch: Sendable {
    /// A descriptor that is readable when something has changed. Valid while this object lives.
    package let descriptor: Int32

    /// - Throws: ``InletError/Code/resourceExhausted`` if the system has no more watches.
    package init() throws(InletError) {
        descriptor = inotify_init1(inlet_inotify_flags)
        guard descriptor >= 0 else { throw Self.failure("inotify_init1") }
        guard unsafe inotify_add_watch(descriptor, "/dev", inlet_inotify_mask) >= 0 else {
            close(descriptor)
            throw Self.failure("inotify_add_watch")
        }
    }

    deinit { close(descriptor) }

    /// Reads and discards all pending events.
    package func drain() {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { bytes in
            while unsafe read(descriptor, bytes.baseAddress, bytes.count) > 0 {}
        }
    }

    private static func failure(_ operation: String) -> InletError {
        InletError(
            .resourceExhausted,
            "Cannot watch for devices that are plugged in. Raise fs.inotify.max_user_instances (sysctl).",
            context: .init(operation: operation, nativeCode: errno))
    }

    /// Blocks until something may have changed, the deadline, or a cancellation, for at most a second.
    ///
    /// - Throws: as ``SourceContext/checkCancellation()``.
    package func wait(_ context: SourceContext) throws(InletError) {
        try context.checkCancellation()
        let remaining = (context.deadline - context.clock.now).wholeNanoseconds / 1_000_000 + 1
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&polled, 2, Int32(clamping: min(remaining, 1000)))
        drain()
        try context.checkCancellation()
    }
}
