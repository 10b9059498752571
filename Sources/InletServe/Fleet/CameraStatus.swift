package import InletCore

/// The condition of a camera at a moment.
package struct CameraStatus: Sendable {
    package var settings: CameraSettings
    /// The statistics of the capture; nil before the first.
    package var statistics: CaptureStatistics?
    /// Why the last capture ended; nil if it did not fail.
    package var failure: InletError?
    /// Whether somebody paused it.
    package var isPaused: Bool
    /// Whether it is meant to run.
    package var isRunning: Bool

    /// Whether it is recorded on request.
    package var isRecording = false
    /// The sinks, and the recording on request, that accept nothing.
    package var stalledSinks: [String] = []

    /// How far it is reduced, as the processor does not suffice; nil if it is not.
    package var degradation: Degradation?
    /// The processor time that it has used, with that of its own processes.
    package var processorTime = Duration.zero

    /// The camera's own processes; nil if its source runs in the daemon's.
    package var process: CameraProcess.Figures?

    /// The state as one word for programs.
    package var phase: CapturePhase { statistics?.phase ?? (failure == nil ? .idle : .failed) }

    /// The reason why the camera sends nothing until it is opened again or a person acts, with the last error; nil if
    /// it sends, or is about to.
    var obstacle: String? {
        if isPaused { return "The camera is paused." }
        if !isRunning {
            return "The camera does not run: \(failure?.description ?? "its source has ended.")"
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

    /// Whether the camera is as it should be: its sinks work, and it is live, or has no frames because a person or its
    /// settings want that.
    package var isHealthy: Bool {
        guard stalledSinks.isEmpty else { return false }
        return switch phase {
        case .live, .paused, .unwatched, .disabled, .ended: true
        case .idle, .opening, .stalled, .waiting, .interrupted, .failed: false
        }
    }
}
