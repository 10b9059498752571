/// The figures of the events for one webhook.
struct WebhookFigures: Sendable {
    /// The number of events that the server accepted.
    var delivered: UInt64 = 0
    /// The number of repeated requests.
    var retries: UInt64 = 0
    /// The number of events that were given up: the server rejected them, or did not accept them within the allowed
    /// attempts.
    var failed: UInt64 = 0
    /// The number of events that were dropped because too many were waiting.
    var dropped: UInt64 = 0
    /// The number of waiting events.
    var waiting = 0
}
