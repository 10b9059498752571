import ServiceLifecycle

/// Tells the system's service manager that the daemon is ready, alive, and about to end. Has ``Fleet/progress`` say the
/// end as well.
package struct NotifierService: Service {
    private let notifier: ServiceNotifier
    private let fleet: Fleet
    private let watchdog: Duration?

    /// - Parameters:
    ///   - fleet: whose progress says that the daemon ends.
    ///   - watchdog: the time within which the manager wants a sign of life; nil if it wants none.
    package init(_ notifier: ServiceNotifier, fleet: Fleet, watchdog: Duration?) {
        (self.notifier, self.fleet, self.watchdog) = (notifier, fleet, watchdog)
    }

    package func run() async throws {
        notifier.send(.ready)
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            // Half of the time, as sd_watchdog_enabled(3) advises. It comes from the same few threads that answer
            // requests and supervise cameras: were they stuck, it would not.
            let pause = watchdog.map { $0 / 2 } ?? .seconds(3600)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: pause) }
            if watchdog != nil, !Task.isShuttingDownGracefully { notifier.send(.watchdog) }
        }
        await fleet.announceEnd()
        notifier.send(.stopping)
    }
}
