import DequeModule
import InletCore
import Logging
import Synchronization

/// Sends events to one server, one after the other, each until it is taken or given up. Safe from any thread.
final class WebhookSender: Sendable {
    private struct State {
        var queue: Deque<WebhookMessage> = []
        var figures = WebhookFigures()
        /// Whether nothing is sent again, as the daemon ends.
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

    /// Starts to send.
    ///
    /// - Parameter firstPause: how long after the first attempt an event is sent again. The default is one second.
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

    /// What became of the events so far.
    var figures: WebhookFigures {
        state.withLock { state in
            var figures = state.figures
            figures.waiting = state.queue.count
            return figures
        }
    }

    /// Puts an event behind those that wait, and drops the oldest if they are too many. Does not wait.
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

    /// Sends what waits, each event once more at most, and ends. One that waits to be sent again is sent at once.
    /// Returns when that is done or the task is cancelled.
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

    /// Ends at once.
    func stop() {
        wake.finish()
        task.withLock { $0 }?.cancel()
    }

    private func sendAll(_ isFailing: inout Bool) async {
        while !Task.isCancelled, let message = state.withLock({ $0.queue.popFirst() }) {
            do throws(InletError) {
                try await deliver(message)
                state.withLock { $0.figures.delivered += 1 }
                if isFailing { logger.notice("Webhook \(name): the server takes events again") }
                isFailing = false
            } catch {
                state.withLock { $0.figures.failed += 1 }
                // Once for as long as it lasts: events come by the hundred where a network fails.
                if !isFailing { logger.warning("Webhook \(name) at \(settings.address): \(error.message)") }
                isFailing = true
            }
        }
    }

    /// Sends an event until it is taken.
    ///
    /// - Throws: ``InletError`` if it is given up.
    private func deliver(_ message: WebhookMessage) async throws(InletError) {
        var (pause, attempt) = (firstPause, 1)
        while true {
            // An attempt that began before the end may have met what is over by then.
            let isLast = state.withLock { $0.isEnding }
            let (error, isFinal) = await attemptOnce(message)
            guard let error else { return }
            if isFinal || attempt >= settings.attempts || isLast { throw error }
            if attempt == 1 { logger.info("Webhook \(name): \(error.message) It is tried again.") }
            // Not at the same time, where many daemons lost one server.
            await wait(pause * Double.random(in: 0.8...1.2))
            if Task.isCancelled { throw error }
            (pause, attempt) = (min(pause * 2, Self.longestPause), attempt + 1)
            state.withLock { $0.figures.retries += 1 }
        }
    }

    /// Waits for a time, or until the daemon ends.
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
    /// - Returns: why it was not taken, nil if it was; and whether it would not be taken another time, either.
    private func attemptOnce(_ message: WebhookMessage) async -> (InletError?, isFinal: Bool) {
        let time = WallTime.now / 1_000_000_000
        var headers = [("webhook-id", message.identifier), ("webhook-timestamp", "\(time)")]
        if let key = settings.key {
            let signature = key.signature(of: message.body, identifier: message.identifier, time: time)
            headers.append(("webhook-signature", signature))
        }
        do throws(InletError) {
            let status = try await WebhookExchange.post(message.body, headers: headers, to: settings)
            if (200..<300).contains(status) { return (nil, false) }
            // What it refuses it would refuse again (RFC 9110, 15.5), but for these.
            let isFinal = status < 500 && ![408, 425, 429].contains(status)
            return (InletError(.serverUnavailable, "The server answers with the status \(status)."), isFinal)
        } catch {
            return (error, error.code == .invalidConfiguration)
        }
    }
}
