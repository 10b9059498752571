import ServiceLifecycle

/// Deletes the oldest recordings of all cameras every minute, also of those that send nothing.
package struct RetentionService: Service {
    private static let interval = Duration.seconds(60)
    private let fleet: Fleet

    package init(_ fleet: Fleet) { self.fleet = fleet }

    package func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            await fleet.retainRecordings()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }
}
