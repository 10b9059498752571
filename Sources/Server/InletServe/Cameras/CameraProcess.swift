package import InletCore

/// Runs the source of a camera in a separate process, so that a crash affects only that camera.
package struct CameraProcess: Sendable {
    /// The figures of the camera's processes.
    package struct Figures: Sendable, Hashable {
        /// The process that is running; nil if no process is running.
        package var processID: Int32?
        /// The number of processes started so far.
        package var starts: Int

        package init(processID: Int32?, starts: Int) { (self.processID, self.starts) = (processID, starts) }
    }

    /// The parameters of a process.
    package struct Request: Sendable {
        /// The name of the camera.
        package var camera: String
        /// The URI of the source, including any secrets.
        package var uri: String
        package var redactedURI: String
        /// The process's memory limit in bytes; nil for no limit.
        package var memoryLimit: Int?
    }

    /// The configuration of a source that runs in such processes.
    package var configuration: any FrameSourceConfiguration
    package var figures: @Sendable () -> Figures

    package init(configuration: any FrameSourceConfiguration, figures: @escaping @Sendable () -> Figures) {
        (self.configuration, self.figures) = (configuration, figures)
    }

    /// Makes the runner of a source. Starts no process.
    package typealias Maker = @Sendable (Request) -> CameraProcess
}
