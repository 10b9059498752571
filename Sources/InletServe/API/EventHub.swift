import InletCore
import NIOCore

/// Passes events to clients as server-sent events, on the server's one thread, the latest ones also to those who come
/// later. Safe from any thread.
final class EventHub: Sendable {
    /// A client that wants events. Called on the server's thread only.
    protocol Listener: AnyObject {
        /// Returns whether an event about a camera, or about none (nil), is for this client.
        func mayHear(of camera: String?) -> Bool
        /// Tells a piece of the stream.
        func tell(_ text: String)
    }

    /// An event as it was sent.
    private struct Sent {
        var number: Int
        var camera: String?
        var text: String
    }

    /// The most events that are kept, and the most bytes of them that are sent to a new client.
    static let (mostKept, longestReplay) = (50, 32_768)

    private let loop: any EventLoop
    /// Tells the identifiers of this run of the server from those of others: when it began.
    private let run: Int64
    private let kept: NIOLoopBoundBox<[Sent]>
    private let listeners: NIOLoopBoundBox<[any Listener]>
    /// How many events were sent. Counted where they are sent, so that their order is that of their numbers.
    private let number: NIOLoopBoundBox<Int>

    /// - Parameter run: when the server began, in nanoseconds since 1970.
    init(_ loop: any EventLoop, run: Int64 = WallTime.now) {
        (self.loop, self.run) = (loop, run)
        kept = .makeBoxSendingValue([], eventLoop: loop)
        number = .makeBoxSendingValue(0, eventLoop: loop)
        listeners = .makeBoxSendingValue([], eventLoop: loop)
    }

    /// Adds a client, and tells it the events of before that it may hear of. Called on the server's thread.
    ///
    /// - Parameter last: the identifier of the last event that it has; nil if it has none. One of another run of the
    ///   server counts as none.
    func add(_ listener: any Listener, after last: String?) {
        listeners.value.append(listener)
        var newest: [String] = []
        var byteCount = 0
        let seen = last.flatMap(number(of:)) ?? 0
        for event in kept.value.reversed() where event.number > seen && listener.mayHear(of: event.camera) {
            byteCount += event.text.utf8.count
            guard byteCount <= Self.longestReplay else { break }
            newest.append(event.text)
        }
        if !newest.isEmpty { listener.tell(newest.reversed().joined()) }
    }

    /// Returns the number in an identifier of this run; nil if it is none.
    private func number(of id: String) -> Int? {
        let parts = id.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].elementsEqual("\(run)".utf8) else { return nil }
        return TextBytes.number(parts[1], upTo: .max)
    }

    /// Removes a client. Called on the server's thread.
    func remove(_ listener: any Listener) { listeners.value.removeAll { $0 === listener } }

    /// Passes an event to all clients.
    func send(_ event: FleetEvent) {
        let time = WallTime.now
        loop.execute {
            self.number.value += 1
            let number = self.number.value
            let text = Self.text(event, id: "\(self.run)-\(number)", time: time)
            self.kept.value.append(Sent(number: number, camera: event.camera, text: text))
            if self.kept.value.count > Self.mostKept { Self.removeOne(&self.kept.value) }
            for listener in self.listeners.value where listener.mayHear(of: event.camera) { listener.tell(text) }
        }
    }

    /// Removes the oldest event of the camera that has the most: the last events of a quiet camera stay.
    private static func removeOne(_ kept: inout [Sent]) {
        let counts = Dictionary(kept.map { ($0.camera, 1) }, uniquingKeysWith: +)
        let most = counts.values.max()
        kept.firstIndex { counts[$0.camera] == most }.map { _ = kept.remove(at: $0) }
    }

    /// Sends something without a meaning, so that clients that are gone are noticed, and proxies keep the connection.
    func sendHeartbeat() { loop.execute { for listener in self.listeners.value { listener.tell(": alive\n\n") } } }

    /// Returns an event as it is sent (HTML Standard, 9.2).
    ///
    /// - Parameter time: when it happened, in nanoseconds since 1970.
    static func text(_ event: FleetEvent, id: String, time: Int64) -> String {
        let data = JSONValue.object([
            ("camera", event.camera.map { .text($0) } ?? .null), ("kind", .text(event.kind)),
            ("text", .text(event.text)), ("time", .text(WallTime.text(time))),
        ])
        // JSON on one line has no line end, which would end the field.
        return "id: \(id)\nevent: camera\ndata: \(data.text())\n\n"
    }
}
