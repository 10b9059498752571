import ServiceLifecycle

/// Passes the cameras' events to webhooks until the cameras end.
package struct WebhookService: Service {
    private let hub: WebhookHub
    private let events: AsyncStream<CameraSetEvent>
    /// The time for the waiting events when the daemon stops.
    private static let farewell = Duration.seconds(2)

    /// - Parameter cameraSet: the cameras whose events are passed on, from now on.
    package init(_ hub: WebhookHub, cameraSet: CameraSet) { (self.hub, events) = (hub, cameraSet.events) }

    package func run() async throws {
        for await event in events { hub.send(event) }
        // A service that returns before it is asked to is considered failed.
        try? await gracefulShutdown()
        await hub.finish(within: Self.farewell)
    }
}
