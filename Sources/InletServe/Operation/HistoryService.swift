import ServiceLifecycle

/// Ends a stretch of each camera's history every ten seconds.
package struct HistoryService: Service {
    private let fleet: Fleet

    package init(_ fleet: Fleet) { self.fleet = fleet }

    package func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: CameraHistory.interval) }
            if !Task.isShuttingDownGracefully, !Task.isCancelled { await fleet.closeHistory() }
        }
    }
}
