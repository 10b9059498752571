import ServiceLifecycle

/// Repeats work on all cameras until the daemon ends.
package struct PeriodicService: Service {
    private let interval: Duration
    private let startsAtOnce: Bool
    private let work: @Sendable () async -> Void

    /// - Parameters:
    ///   - interval: the time from the end of the work to its next start.
    ///   - startsAtOnce: whether the work is also done at the beginning. The default is false.
    package init(
        every interval: Duration, startsAtOnce: Bool = false, _ work: @escaping @Sendable () async -> Void
    ) {
        (self.interval, self.startsAtOnce, self.work) = (interval, startsAtOnce, work)
    }

    package func run() async throws {
        if startsAtOnce { await work() }
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            if !Task.isShuttingDownGracefully, !Task.isCancelled { await work() }
        }
    }
}
