import Logging
import ServiceLifecycle

/// Runs the cameras from the daemon's start until it stops.
package struct FleetService: Service {
    private let fleet: Fleet
    private let keeper: ConfigurationKeeper

    package init(_ fleet: Fleet, keeper: ConfigurationKeeper) { (self.fleet, self.keeper) = (fleet, keeper) }

    /// Starts the cameras. When the daemon stops, every recording is finished.
    package func run() async throws {
        await keeper.start()
        try? await gracefulShutdown()
        await fleet.stop()
    }
}
