/// A server that is told of events, and of which.
package struct WebhookSettings: Sendable, Hashable {
    package var address: WebhookAddress
    /// The kinds of events that are sent, as `/v1/events` shows them; nil for all, which is the default.
    package var kinds: Set<String>?
    /// The cameras of which events are sent. The default is all, and what concerns no camera.
    package var cameras = CameraFilter.all
    /// The key of the signatures; nil for none. No description shows it.
    package var key: WebhookKey?
    /// The file of certificate authorities; nil for the system's.
    package var authorities: String?
    /// The most time for one request, from connecting to the status of the answer. The default is ten seconds.
    package var limit = Duration.seconds(10)
    /// How often an event is sent before it is given up. The default is 10.
    package var attempts = 10
    /// The most events that wait; above it the oldest is dropped. The default is 256.
    package var queue = 256

    package init(address: WebhookAddress) { self.address = address }

    /// Whether an event is to be sent.
    func wants(_ event: FleetEvent) -> Bool {
        guard kinds?.contains(event.kind) ?? true else { return false }
        return event.camera.map(cameras.allows) ?? !cameras.isLimited
    }
}
