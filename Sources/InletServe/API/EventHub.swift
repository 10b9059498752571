import InletCore
import NIOCore
import Synchronization

/// Passes events to clients as server-sent events, on the server's one thread. Safe from any thread.
final class EventHub: Sendable {
    /// A client that wants events. Called on the server's thread only.
    protocol Listener: AnyObject {
        /// Returns whether an event about a camera, or about none (nil), is for this client.
        func mayHear(of camera: String?) -> Bool
        /// Tells a piece of the stream.
        func tell(_ text: String)
    }

    private let loop: any EventLoop
    private let listeners: NIOLoopBoundBox<[any Listener]>
    private let number = Atomic(0)

    init(_ loop: any EventLoop) {
        self.loop = loop
        listeners = .makeBoxSendingValue([], eventLoop: loop)
    }

    /// Adds a client. Called on the server's thread.
    func add(_ listener: any Listener) { listeners.value.append(listener) }

    /// Removes a client. Called on the server's thread.
    func remove(_ listener: any Listener) { listeners.value.removeAll { $0 === listener } }

    /// Passes an event to all clients.
    func send(_ event: FleetEvent) {
        let number = number.add(1, ordering: .relaxed).newValue
        tell(Self.text(event, number: number)) { $0.mayHear(of: event.camera) }
    }

    /// Sends something without a meaning, so that clients that are gone are noticed, and proxies keep the connection.
    func sendHeartbeat() { tell(": alive\n\n") { _ in true } }

    private func tell(_ text: String, where isMeant: @escaping @Sendable (any Listener) -> Bool) {
        loop.execute { for listener in self.listeners.value where isMeant(listener) { listener.tell(text) } }
    }

    /// Returns an event as it is sent (HTML Standard, 9.2).
    static func text(_ event: FleetEvent, number: Int) -> String {
        let data = JSONValue.object([
            ("camera", event.camera.map { .text($0) } ?? .null), ("kind", .text(event.kind)),
            ("text", .text(event.text)),
        ])
        // JSON on one line has no line end, which would end the field.
        return "id: \(number)\nevent: camera\ndata: \(data.text())\n\n"
    }
}
