import InletCore
package import Logging
import Synchronization

/// Passes events to the servers that the configuration names. Each has a queue of its own, so that one that hangs costs
/// the others nothing. Safe from any thread.
package final class WebhookHub: Sendable {
    private let logger: Logger
    private let senders = Mutex<[String: WebhookSender]>([:])

    /// Makes one without servers.
    package init(logger: Logger) { self.logger = logger }

    /// Applies the webhooks of a new configuration. Those whose settings stay keep what waits for them; of others it is
    /// dropped.
    func apply(_ settings: [String: WebhookSettings]) {
        let obsolete = senders.withLock { senders in
            let obsolete = senders.filter { settings[$0.key] != $0.value.settings }
            for name in obsolete.keys { senders[name] = nil }
            for (name, settings) in settings where senders[name] == nil {
                senders[name] = WebhookSender(name: name, settings, logger: logger)
            }
            return obsolete.values
        }
        for sender in obsolete { sender.stop() }
    }

    /// Passes on an event. Does not wait.
    func send(_ event: FleetEvent) {
        let senders = senders.withLock { $0.values.filter { $0.settings.wants(event) } }
        guard !senders.isEmpty else { return }
        let time = WallTime.now
        for sender in senders { sender.offer(WebhookMessage(event, time: time)) }
    }

    /// Sends what waits, for a time at most, and ends.
    func finish(within limit: Duration) async {
        let senders = senders.withLock { Array($0.values) }
        await withTaskGroup(of: Void.self) { group in
            for sender in senders { group.addTask { await sender.finish() } }
            let deadline = Task {
                try? await Task.sleep(for: limit)
                for sender in senders { sender.stop() }
            }
            await group.waitForAll()
            deadline.cancel()
        }
    }

    /// What became of the events, by the names of the webhooks.
    var figures: [(name: String, figures: WebhookFigures)] {
        senders.withLock { senders in
            senders.sorted { $0.key < $1.key }.map { ($0.key, $0.value.figures) }
        }
    }
}
