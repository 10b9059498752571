import DequeModule
import InletCore
import Logging
import Synchronization

/// Sends events to one server, one after the other. Each event is repeated until it is accepted or given up. Safe from
/// any thread.
final class WebhookSender: Sendable {
    private struct State {
        var queue: Deque<WebhookMessage> = []
        var figures = WebhookFigures()
        /// Whether the daemon is stopping, so that events are not sent again.
        var isEnding = false
        /// The pause before an event is sent again.
        var pause: Task<Void, Never>?
    }

    let settings: WebhookSettings
    private let name: String
    private let logger: Logger
    private let state = Mutex(State())
    private let wake: AsyncStream<Void>.Continuation
    private let task: Mutex<Task<Void, Never>?>

    private let firstPause: Duration
    private static let longestPause = Duration.seconds(60)

    /// Starts sending.
    ///
    /// - Parameter firstPause: the time between the first attempt and the second. The default is one second.
    init(name: String, _ settings: WebhookSettings, firstPause: Duration = .seconds(1), logger: Logger) {
        (self.name, self.settings, self.firstPause, self.logger) = (name, settings, firstPause, logger)
        let (signals, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wake = wake
        task = Mutex(nil)
        let running = Task { [weak self] in
            var isFailing = false
            for await _ in signals { await self?.sendAll(&isFailing) }
        }
        task.withLock { $0 = running }
    }

    /// The figures of the events so far.
    var figures: WebhookFigures {
        state.withLock { state in
            var figures = state.figures
            figures.waiting = state.queue.count
            return figures
        }
    }

    /// Appends an event to the queue, and drops the oldest one if the queue is full. Does not wait.
    func offer(_ message: WebhookMessage) {
        state.withLock { state in
            if state.queue.count >= settings.queue {
                state.queue.removeFirst()
                state.figures.dropped += 1
            }
            state.queue.append(message)
        }
        wake.yield()
    }

    /// Sends the waiting events, each at most once more, and ends. A pause before a repetition is cut short. Returns
    /// when that is done or the task is cancelled.
    func finish() async {
        let pause = state.withLock { state in
            state.isEnding = true
            return state.pause
        }
        pause?.cancel()
        wake.yield()
        wake.finish()
        let running = task.withLock { $0 }
        await withTaskCancellationHandler {
            await running?.value
        } onCancel: {
            running?.cancel()
        }
        let count = figures.waiting
        if count > 0 { logger.warning("Webhook \(name): \(count) events were not sent") }
    }

    /// Ends immediately.
    func stop() {
        wake.finish()
        task.withLock { $0 }?.cancel()
    }

    private func sendAll(_ isFailing: inout Bool) async {
        while !Task.isCancelled, let message = state.withLock({ $0.queue.popFirst() }) {
            do throws(InletError) {
                try await deliver(message)
                state.withLock { $0.figures.delivered += 1 }
                if isFailing { logger.notice("Webhook \(name): the server accepts events again") }
                isFailing = false
            } catch {
                state.withLock { $0.figures.failed += 1 }
                // Logged once for each outage, because hundreds of events may fail during a network failure.
                if !isFailing { logger.warning("Webhook \(name) at \(settings.address): \(error.message)") }
                isFailing = true
            }
        }
    }

    /// Sends an event repeatedly until it is accepted.
    ///
    /// - Throws: ``InletError`` if the event is given up.
    private func deliver(_ message: WebhookMessage) async throws(InletError) {
        var (pause, attempt) = (firstPause, 1)
        while true {
            // Read before the attempt: an attempt that began before the daemon's stop may have failed for a temporary
            // reason.
            let isLast = state.withLock { $0.isEnding }
            let (error, isFinal) = await attemptOnce(message)
            guard let error else { return }
            if isFinal || attempt >= settings.attempts || isLast { throw error }
            if attempt == 1 { logger.info("Webhook \(name): \(error.message) The event will be sent again.") }
            // The time is random, so that many daemons that lost the same server do not repeat requests at the same
            // time.
            await wait(pause * Double.random(in: 0.8...1.2))
            if Task.isCancelled { throw error }
            (pause, attempt) = (min(pause * 2, Self.longestPause), attempt + 1)
            state.withLock { $0.figures.retries += 1 }
        }
    }

    /// Waits for a time, or until the daemon stops.
    private func wait(_ time: Duration) async {
        let pause = Task { _ = try? await Task.sleep(for: time) }
        let isEnding = state.withLock { state in
            state.pause = pause
            return state.isEnding
        }
        if isEnding { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        state.withLock { $0.pause = nil }
    }

    /// Sends an event once.
    ///
    /// - Returns: the error, or nil if the event was accepted; and whether further attempts would also fail.
    private func attemptOnce(_ message: WebhookMessage) async -> (InletError?, isFinal: Bool) {
        let time = WallTime.now / 1_000_000_000
        var headers = [("webhook-id", message.identifier), ("webhook-timestamp", "\(time)")]
        if let key = settings.key {
            let signature = key.signature(of: message.body, identifier: message.identifier, time: time)
            headers.append(("webhook-signature", signature))
        }
        do throws(InletError) {
            let status = try await StatusExchange.send(
                StatusExchange.Request(
                    address: settings.address, headers: headers, body: message.body, authorities: settings.authorities,
                    limit: settings.limit))
            if (200..<300).contains(status) { return (nil, false) }
            // The server would reject the same request again (RFC 9110, 15.5), except for these statuses.
            let isFinal = status < 500 && ![408, 425, 429].contains(status)
            return (InletError(.serverUnavailable, "The server answers with the status \(status)."), isFinal)
        } catch {
            return (error, error.code == .invalidConfiguration)
        }
    }
}
