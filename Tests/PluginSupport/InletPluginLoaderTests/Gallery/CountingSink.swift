import InletCore
import Synchronization

/// A sink that counts frames and gaps in their numbers.
final class CountingSink: FrameSink {
    /// The counts of the sink.
    let count = Count()
    private var last: UInt64?

    /// Counts frames by the numbers from their source. Safe from any thread.
    final class Count: Sendable {
        /// Received frames.
        let frames = Atomic(0)
        /// Skipped or repeated numbers.
        let gaps = Atomic(0)
    }

    func consume(_ frame: VideoFrame) {
        if let last, frame.sequence != last + 1 { count.gaps.add(1, ordering: .relaxed) }
        last = frame.sequence
        count.frames.add(1, ordering: .releasing)
    }
}
