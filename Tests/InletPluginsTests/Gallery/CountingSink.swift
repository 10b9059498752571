import InletCore
import Synchronization

/// A sink that counts frames, and those that are missing between them.
final class CountingSink: FrameSink {
    /// What the sink has seen.
    let count = Count()
    private var last: UInt64?

    /// Frames by the numbers that their source gave them. Safe from any thread.
    final class Count: Sendable {
        /// Frames that came.
        let frames = Atomic(0)
        /// Numbers that were skipped or repeated.
        let gaps = Atomic(0)
    }

    func consume(_ frame: VideoFrame) {
        if let last, frame.sequence != last + 1 { count.gaps.add(1, ordering: .relaxed) }
        last = frame.sequence
        count.frames.add(1, ordering: .releasing)
    }
}
