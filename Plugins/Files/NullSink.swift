import InletCore

/// Accepts every frame and releases it at once.
final class NullSink: FrameSink {
    var consumesAtOnce: Bool { true }
    func consume(_ frame: VideoFrame) {}
}
