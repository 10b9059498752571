import Dispatch
import Glibc
import InletCore
import InletSystem
import Synchronization

// Unsafe: owns the pipe by which a manual clock wakes a thread.
/// A pipe that becomes readable when raised and stays so. A blocked thread polls it together with another descriptor.
final class DescriptorSignal: Sendable {
    /// The descriptor to poll for reading.
    let descriptor: Int32
    private let writeEnd: Int32
    private let raised = Atomic(false)

    /// - Precondition: the process has two descriptors left.
    init() {
        var ends: (Int32, Int32) = (-1, -1)
        let status = unsafe withUnsafeMutableBytes(of: &ends) {
            unsafe pipe($0.baseAddress?.assumingMemoryBound(to: Int32.self))
        }
        precondition(status == 0, "no descriptors left")
        (descriptor, writeEnd) = ends
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Makes the descriptor readable. Safe from any thread.
    func raise() {
        guard !raised.exchange(true, ordering: .relaxed) else { return }
        var byte: UInt8 = 1
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Whether a descriptor is readable now; -1 never is.
    static func isReadable(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Blocks until this signal or the other descriptor is readable; -1 means no other descriptor.
    func wait(or other: Int32) {
        var requests = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0)
        )
        unsafe withUnsafeMutableBytes(of: &requests) { bytes in
            while unsafe poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, -1) < 0, errno == EINTR {}
        }
    }
}

/// The machine's monotonic clock, for suites that check that something returns in time.
struct RealClock: CaptureClock {
    var now: MonotonicTime { .now }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        while true {
            let left = (deadline - now).wholeNanoseconds
            guard left > 0 else { return true }
            var request = pollfd(fd: wakeUpDescriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&request, 1, Int32(clamping: left / 1_000_000 + 1)) > 0 { return false }
        }
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        DispatchTimer(on: queue, handler: handler)
    }
}
