import ServiceLifecycle

/// Looks once a second at what the cameras use of the processor, and has some do less where it is too much.
package struct BudgetService: Service {
    private let fleet: Fleet

    package init(_ fleet: Fleet) { self.fleet = fleet }

    package func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
            if !Task.isShuttingDownGracefully, !Task.isCancelled { await fleet.balanceCores() }
        }
    }
}
