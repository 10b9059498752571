import Logging
import ServiceLifecycle

/// Runs the cameras from the daemon's start until it stops.
package struct CameraSetService: Service {
    private let cameraSet: CameraSet
    private let keeper: ConfigurationKeeper

    package init(_ cameraSet: CameraSet, keeper: ConfigurationKeeper) {
        (self.cameraSet, self.keeper) = (cameraSet, keeper)
    }

    /// Starts the cameras. When the daemon stops, every recording is finished.
    package func run() async throws {
        await keeper.start()
        try? await gracefulShutdown()
        await cameraSet.stop()
    }
}
