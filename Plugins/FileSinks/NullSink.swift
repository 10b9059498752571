import InletCore

/// Takes every frame and lets go of it at once.
final class NullSink: FrameSink {
    func consume(_ frame: VideoFrame) {}
}
