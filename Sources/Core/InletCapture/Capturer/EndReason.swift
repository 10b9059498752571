import InletCore

/// The reason why a run ended, if it did not fail.
public enum EndReason: String, Sendable, Hashable, CaseIterable {
    /// The source has no more frames.
    case endOfStream
    /// ``Capturer/stop()`` was called, or the task was cancelled.
    case cancelled
    /// ``CapturerConfiguration/frameLimit`` was reached.
    case frameLimit
    /// ``CapturerConfiguration/durationLimit`` was reached.
    case durationLimit
    /// No sink was left, and ``CapturerConfiguration/endsWithoutSinks`` is true.
    case noSinks
}

extension Result<EndReason, InletError> {
    /// Whether the run was ended from outside, so that queued frames are not worth delivering.
    var isStop: Bool {
        if case .success(let reason) = self { reason == .cancelled || reason == .noSinks } else { false }
    }
}
