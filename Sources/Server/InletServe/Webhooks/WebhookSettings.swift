/// A server that receives events, and the selection of events.
package struct WebhookSettings: Sendable, Hashable {
    package var address: WebhookAddress
    /// The kinds of events to send, as in `/v1/events`; nil, the default, for all kinds.
    package var kinds: Set<String>?
    /// The cameras whose events are sent. The default is all cameras, and events that concern no camera.
    package var cameras = CameraFilter.all
    /// The key for signatures; nil for no signatures. No description shows it.
    package var key: WebhookKey?
    /// The file of certificate authorities; nil for the system's.
    package var authorities: String?
    /// The time limit of one request, from connecting to the status of the response. The default is ten seconds.
    package var limit = Duration.seconds(10)
    /// How many times an event is sent before it is given up. The default is 10.
    package var attempts = 10
    /// The maximum number of waiting events. Above it, the oldest one is dropped. The default is 256.
    package var queue = 256

    package init(address: WebhookAddress) { self.address = address }

    /// Returns whether an event must be sent.
    func wants(_ event: CameraSetEvent) -> Bool {
        guard kinds?.contains(event.kind) ?? true else { return false }
        return event.camera.map(cameras.allows) ?? !cameras.isLimited
    }
}
