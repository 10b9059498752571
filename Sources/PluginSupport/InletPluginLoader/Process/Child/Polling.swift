import Glibc
import InletCore

// Unsafe: waits in `poll`.
/// Waits for one of several descriptors.
enum Polling {
    /// Waits until a descriptor is readable, or closed at its other end, or until the time is over.
    ///
    /// - Parameters:
    ///   - descriptors: at most four; one of -1 is ignored.
    ///   - time: how long to wait at most. A wait never ends much earlier.
    /// - Returns: a bit for each that is ready, the lowest for the first; 0 if no descriptor is.
    static func wait(_ descriptors: InlineArray<4, Int32>, for time: Duration) -> UInt8 {
        let milliseconds = Int32(clamping: max(0, time.wholeNanoseconds / 1_000_000).adding(saturating: 1))
        return unsafe withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 4) { requests in
            for index in 0..<4 {
                unsafe requests.initializeElement(
                    at: index, to: pollfd(fd: descriptors[index], events: Int16(POLLIN), revents: 0))
            }
            guard unsafe poll(requests.baseAddress, 4, milliseconds) > 0 else { return 0 }
            var ready: UInt8 = 0
            for index in 0..<4 where unsafe requests[index].revents != 0 { ready |= 1 << UInt8(index) }
            return ready
        }
    }
}
