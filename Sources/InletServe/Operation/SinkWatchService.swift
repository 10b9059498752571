import ServiceLifecycle

/// Looks for stalled sinks of all cameras every two seconds.
package struct SinkWatchService: Service {
    private static let interval = Duration.seconds(2)
    private let fleet: Fleet

    package init(_ fleet: Fleet) { self.fleet = fleet }

    package func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
            if !Task.isShuttingDownGracefully, !Task.isCancelled { await fleet.watchSinks() }
        }
    }
}
