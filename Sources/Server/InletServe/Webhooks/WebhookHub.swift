import InletCore
package import Logging
import Synchronization

/// Passes events to the servers of the configuration. Each server has its own queue, so that one that hangs does not
/// affect the others. Safe from any thread.
package final class WebhookHub: Sendable {
    private let logger: Logger
    private let senders = Mutex<[String: WebhookSender]>([:])

    /// Makes a hub without servers.
    package init(logger: Logger) { self.logger = logger }

    /// Applies the webhooks of a new configuration. Webhooks with unchanged settings keep their waiting events; those
    /// of others are dropped.
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
    func send(_ event: CameraSetEvent) {
        let senders = senders.withLock { $0.values.filter { $0.settings.wants(event) } }
        guard !senders.isEmpty else { return }
        let time = WallTime.now
        for sender in senders { sender.offer(WebhookMessage(event, time: time)) }
    }

    /// Sends the waiting events within a time limit, and ends.
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

    /// The figures of the webhooks, with their names.
    var figures: [(name: String, figures: WebhookFigures)] {
        senders.withLock { senders in
            senders.sorted { $0.key < $1.key }.map { ($0.key, $0.value.figures) }
        }
    }
}
