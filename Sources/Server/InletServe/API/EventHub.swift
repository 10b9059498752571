import InletCore
import NIOCore

/// Passes events to clients as server-sent events, on the server's only thread. New clients also get the latest earlier
/// events. Safe from any thread.
final class EventHub: Sendable {
    /// A client that wants events. Called on the server's thread only.
    protocol Listener: AnyObject {
        /// Returns whether an event about a camera, or about no particular camera (nil), is for this client.
        func mayHear(of camera: String?) -> Bool
        /// Sends a piece of the stream to the client.
        func tell(_ text: String)
    }

    /// An event as it was sent.
    private struct Sent {
        var number: Int
        var camera: String?
        var text: String
    }

    /// The maximum number of events that are kept, and the maximum number of bytes of them that a new client is sent.
    static let (mostKept, longestReplay) = (50, 32_768)

    private let loop: any EventLoop
    /// The start time of the server, which distinguishes this run's identifiers from those of other runs.
    private let run: Int64
    private let kept: NIOLoopBoundBox<[Sent]>
    private let listeners: NIOLoopBoundBox<[any Listener]>
    /// The number of events sent. Incremented where events are sent, so that the order of the numbers is the order of
    /// sending.
    private let number: NIOLoopBoundBox<Int>

    /// - Parameter run: when the server started, in nanoseconds since 1970.
    init(_ loop: any EventLoop, run: Int64 = WallTime.now) {
        (self.loop, self.run) = (loop, run)
        kept = .makeBoxSendingValue([], eventLoop: loop)
        number = .makeBoxSendingValue(0, eventLoop: loop)
        listeners = .makeBoxSendingValue([], eventLoop: loop)
    }

    /// Adds a client and sends it the earlier events that it may see. Called on the server's thread.
    ///
    /// - Parameter last: the identifier of the client's last event; nil if it has none. An identifier of another run of
    ///   the server is ignored.
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

    /// Returns the event number of an identifier; nil if the identifier is not from this run.
    private func number(of id: String) -> Int? {
        // The first part is negative if the server started with a clock before 1970.
        let own = "\(run)-"
        guard id.hasBytePrefix(own) else { return nil }
        return TextBytes.number(id.utf8.dropFirst(own.utf8.count), upTo: .max)
    }

    /// Removes a client. Called on the server's thread.
    func remove(_ listener: any Listener) { listeners.value.removeAll { $0 === listener } }

    /// Passes an event to all clients.
    func send(_ event: CameraSetEvent) {
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

    /// Removes the oldest event of the camera with the most events, so that the last events of a quiet camera stay.
    private static func removeOne(_ kept: inout [Sent]) {
        let counts = Dictionary(kept.map { ($0.camera, 1) }, uniquingKeysWith: +)
        let most = counts.values.max()
        kept.firstIndex { counts[$0.camera] == most }.map { _ = kept.remove(at: $0) }
    }

    /// Sends an empty message to detect clients that are gone, and to keep proxies from closing the connection.
    func sendHeartbeat() { loop.execute { for listener in self.listeners.value { listener.tell(": alive\n\n") } } }

    /// Returns an event in the format of the stream (HTML Standard, 9.2).
    ///
    /// - Parameter time: when the event happened, in nanoseconds since 1970.
    static func text(_ event: CameraSetEvent, id: String, time: Int64) -> String {
        let data = JSONValue.object([
            ("camera", event.camera.map { .text($0) } ?? .null), ("kind", .text(event.kind)),
            ("text", .text(event.text)), ("time", .text(WallTime.text(time))),
        ])
        // The JSON text is one line, because a line end would end the field.
        return "id: \(id)\nevent: camera\ndata: \(data.text())\n\n"
    }
}
