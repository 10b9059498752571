import ServiceLifecycle

/// Notifies the system's service manager that the daemon is ready, alive, or stopping. Also makes ``Fleet/progress``
/// report that the daemon is stopping.
package struct NotifierService: Service {
    private let notifier: ServiceNotifier
    private let fleet: Fleet
    private let watchdog: Duration?

    /// - Parameters:
    ///   - fleet: the fleet whose progress shows that the daemon is stopping.
    ///   - watchdog: the time within which the manager expects a sign of life; nil if it expects none.
    package init(_ notifier: ServiceNotifier, fleet: Fleet, watchdog: Duration?) {
        (self.notifier, self.fleet, self.watchdog) = (notifier, fleet, watchdog)
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
        await fleet.announceEnd()
        notifier.send(.stopping)
    }
}
