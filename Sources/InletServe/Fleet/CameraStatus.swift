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

    /// How far it is reduced, as the processor does not suffice; nil if it is not.
    package var degradation: Degradation?
    /// The processor time that it has used, with that of its own processes.
    package var processorTime = Duration.zero

    /// The camera's own processes; nil if its source runs in the daemon's.
    package var process: CameraProcess.Figures?

    /// The state as one word for programs.
    package var phase: CapturePhase { statistics?.phase ?? (failure == nil ? .idle : .failed) }

    /// Whether the camera is as it should be: live, or without frames because somebody chose that.
    package var isHealthy: Bool {
        switch phase {
        case .live, .paused, .unwatched, .disabled, .ended: true
        case .idle, .opening, .stalled, .waiting, .interrupted, .failed: false
        }
    }
}
