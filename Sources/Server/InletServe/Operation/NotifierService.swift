import ServiceLifecycle

/// Notifies the system's service manager that the daemon is ready, alive, or stopping. Also makes
/// ``CameraSet/progress`` report that the daemon is stopping.
package struct NotifierService: Service {
    private let notifier: ServiceNotifier
    private let cameraSet: CameraSet
    private let watchdog: Duration?

    /// - Parameters:
    ///   - cameraSet: the cameras whose progress shows that the daemon is stopping.
    ///   - watchdog: the time within which the manager expects a sign of life; nil if it expects none.
    package init(_ notifier: ServiceNotifier, cameraSet: CameraSet, watchdog: Duration?) {
        (self.notifier, self.cameraSet, self.watchdog) = (notifier, cameraSet, watchdog)
    }

    package func run() async throws {
        notifier.send(.ready)
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            // Half of the time, as sd_watchdog_enabled(3) recommends. This task uses the same few threads that answer
            // requests and supervise cameras, so the sign of life stops if they are stuck.
            let pause = watchdog.map { $0 / 2 } ?? .seconds(3600)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
            if watchdog != nil, !Task.isShuttingDownGracefully { notifier.send(.watchdog) }
        }
        await cameraSet.announceEnd()
        notifier.send(.stopping)
    }
}
