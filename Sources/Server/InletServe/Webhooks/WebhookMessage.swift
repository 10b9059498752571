import InletCore

/// An event as it is sent. The bytes and the identifier are the same for each attempt.
struct WebhookMessage: Sendable {
    /// The unique identifier of the event, by which a server can ignore repetitions.
    let identifier: String
    /// The JSON body.
    let body: String

    /// - Parameter time: when the event happened, in nanoseconds since 1970.
    init(_ event: CameraSetEvent, time: Int64) {
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
