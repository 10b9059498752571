package import InletCore

/// Runs the source of a camera in a process of its own, which a crash ends alone.
package struct CameraProcess: Sendable {
    /// What is told of the processes.
    package struct Figures: Sendable, Hashable {
        /// The process that runs now; nil if there is none.
        package var processID: Int32?
        /// How many processes were started so far.
        package var starts: Int

        package init(processID: Int32?, starts: Int) { (self.processID, self.starts) = (processID, starts) }
    }

    /// What is wanted of a process.
    package struct Request: Sendable {
        /// The name of the camera.
        package var camera: String
        /// The URI of the source, with every secret in it.
        package var uri: String
        package var redactedURI: String
        /// The most memory of the process in bytes; nil for no limit.
        package var memoryLimit: Int?
    }

    /// The source that runs in such processes.
    package var configuration: any FrameSourceConfiguration
    package var figures: @Sendable () -> Figures

    package init(configuration: any FrameSourceConfiguration, figures: @escaping @Sendable () -> Figures) {
        (self.configuration, self.figures) = (configuration, figures)
    }

    /// Makes what runs a source in processes. Starts none.
    package typealias Maker = @Sendable (Request) -> CameraProcess
}
