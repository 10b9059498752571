import ServiceLifecycle

/// Hands the events of a fleet to webhooks, to the end of the fleet.
package struct WebhookService: Service {
    private let hub: WebhookHub
    private let events: AsyncStream<FleetEvent>
    /// The time for what waits at the end.
    private static let farewell = Duration.seconds(2)

    /// - Parameter fleet: events from now on are handed on.
    package init(_ hub: WebhookHub, fleet: Fleet) { (self.hub, events) = (hub, fleet.events) }

    package func run() async throws {
        for await event in events { hub.send(event) }
        // A service that returns before it is told to is taken for one that failed.
        try? await gracefulShutdown()
        await hub.finish(within: Self.farewell)
    }
}
