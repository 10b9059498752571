/// What became of the events for one webhook.
struct WebhookFigures: Sendable {
    /// Events that the server took.
    var delivered: UInt64 = 0
    /// Requests that were made again.
    var retries: UInt64 = 0
    /// Events that were given up: the server refused them, or did not take them in as many attempts as there are.
    var failed: UInt64 = 0
    /// Events that were dropped, as too many waited.
    var dropped: UInt64 = 0
    /// Events that wait.
    var waiting = 0
}
