package import InletCore

/// The status of a camera at a moment.
package struct CameraStatus: Sendable {
    package var settings: CameraSettings
    /// The statistics of the capture; nil before the first capture.
    package var statistics: CaptureStatistics?
    /// The reason why the last capture ended; nil if it did not fail.
    package var failure: InletError?
    /// Whether the camera is paused by a user.
    package var isPaused: Bool
    /// Whether the camera is meant to run.
    package var isRunning: Bool

    /// Whether the camera is being recorded on request.
    package var isRecording = false
    /// The sinks, and the recording on request, that accept no data.
    package var stalledSinks: [String] = []

    /// How far the camera is reduced to save processor time; nil if it is not reduced.
    package var degradation: Degradation?
    /// The processor time that the camera has used, including its own processes.
    package var processorTime = Duration.zero

    /// The figures of the camera's own processes; nil if its source runs in the daemon's process.
    package var process: CameraProcess.Figures?

    /// The state as one word for programs.
    package var phase: CapturePhase { statistics?.phase ?? (failure == nil ? .idle : .failed) }

    /// The reason, with the last error, why the camera sends nothing until it is opened again or a person acts; nil if
    /// it sends or is about to send.
    var obstacle: String? {
        if isPaused { return "The camera is paused." }
        if !isRunning {
            return "The camera is not running: \(failure?.description ?? "its source has ended.")"
        }
        if let degradation, degradation.by == DegradeStep.pause.words {
            return "The budget of cores leaves the camera no pictures. \(degradation.why)"
        }
        switch phase {
        case .waiting, .interrupted, .stalled, .failed:
            let state = "The camera is \(statistics?.stateDescription ?? "not open")."
            let error = statistics?.supervision.lastFailure ?? failure
            return error.map { "\(state) The last error: \($0)" } ?? state
        case .idle, .opening, .live, .paused, .unwatched, .disabled, .ended: return nil
        }
    }

    /// Whether the camera is healthy: its sinks work, and it is live or has no frames because a person or its settings
    /// want that.
    package var isHealthy: Bool {
        guard stalledSinks.isEmpty else { return false }
        return switch phase {
        case .live, .paused, .unwatched, .disabled, .ended: true
        case .idle, .opening, .stalled, .waiting, .interrupted, .failed: false
        }
    }
}
