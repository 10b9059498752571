import ServiceLifecycle

/// Passes the events of a fleet to webhooks until the fleet ends.
package struct WebhookService: Service {
    private let hub: WebhookHub
    private let events: AsyncStream<FleetEvent>
    /// The time for the waiting events when the daemon stops.
    private static let farewell = Duration.seconds(2)

    /// - Parameter fleet: the fleet whose events are passed on, from now on.
    package init(_ hub: WebhookHub, fleet: Fleet) { (self.hub, events) = (hub, fleet.events) }

    package func run() async throws {
        for await event in events { hub.send(event) }
        // A service that returns before it is asked to is considered failed.
        try? await gracefulShutdown()
        await hub.finish(within: Self.farewell)
    }
}
