import InletV4L2

/// The driver's buffer that a frame holds. It returns to the driver when the frame's last owner releases it.
final class CaptureLease: Sendable {
    let buffer: V4L2Buffer
    private let queue: CaptureQueue

    init(_ buffer: V4L2Buffer, queue: CaptureQueue) {
        self.buffer = buffer
        self.queue = queue
    }

    deinit { queue.giveBack(buffer) }
}
