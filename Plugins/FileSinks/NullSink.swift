import InletCore

/// Accepts every frame and releases it at once.
final class NullSink: FrameSink {
    func consume(_ frame: VideoFrame) {}
}
