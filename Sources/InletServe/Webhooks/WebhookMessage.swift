import InletCore

/// An event as it is sent: the same bytes and the same identifier, however often.
struct WebhookMessage: Sendable {
    /// Tells the event from all others, so that a server can ignore it the second time.
    let identifier: String
    /// The body: JSON.
    let body: String

    /// - Parameter time: when it happened, in nanoseconds since 1970.
    init(_ event: FleetEvent, time: Int64) {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        identifier = "event_" + String(decoding: (0..<32).map { _ in digits[Int(random.next() & 15)] }, as: UTF8.self)
        body = JSONValue.object([
            ("type", .text(event.kind)), ("timestamp", .text(WallTime.text(time))),
            (
                "data",
                .object([("camera", event.camera.map { .text($0) } ?? .null), ("text", .text(event.text))])
            ),
        ]).text()
    }
}
