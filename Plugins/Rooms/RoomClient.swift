import InletCore
import InletRTC
import InletSystem
import InletWebSocket
import Synchronization

/// Enters a room, and enters it again each time the connection breaks.
struct RoomClient: Sendable {
    private let configuration: WebSocketSignalingConfiguration
    private let opening: WebSocketConfiguration
    private let dispatcher: SignalingDispatcher
    private let outbox: RoomOutbox
    private let servers: RoomServerList
    /// The time limit for the server's welcome.
    private static let welcomeLimit = Duration.seconds(10)

    init(
        _ configuration: WebSocketSignalingConfiguration, _ opening: WebSocketConfiguration,
        _ dispatcher: SignalingDispatcher, _ outbox: RoomOutbox, _ servers: RoomServerList
    ) {
        (self.configuration, self.opening) = (configuration, opening)
        (self.dispatcher, self.outbox, self.servers) = (dispatcher, outbox, servers)
    }

    /// Whether the server has sent its welcome.
    private final class Welcome: Sendable {
        private let said = Atomic(false)
        var isSaid: Bool { said.load(ordering: .relaxed) }
        func say() { said.store(true, ordering: .relaxed) }
    }

    /// The state of a connection.
    private struct End: Sendable {
        var wasWelcome = false
        var error: InletError?
        var refusal: RoomRefusal?
    }

    /// Runs until the service is closed or cannot continue, which is reported to the dispatcher.
    func run() async {
        var attempt = 0
        var failing: MonotonicTime?
        while !Task.isCancelled {
            let end = await connect()
            guard let error = end.error, !Task.isCancelled else { return dispatcher.closed(nil) }
            if end.wasWelcome { (attempt, failing) = (0, nil) }
            let since = failing ?? .now
            failing = since
            let patience = end.refusal?.reason == .taken ? configuration.namePatience : configuration.patience
            guard Self.isTemporary(end), patience.map({ MonotonicTime.now - since < $0 }) ?? true else {
                return dispatcher.closed(error)
            }
            dispatcher.interrupted(error)
            let wait = max(delay(attempt), error.retryAfter ?? .zero)
            attempt += 1
            try? await Task.sleep(for: wait)
        }
        dispatcher.closed(nil)
    }

    /// Returns the wait before an attempt, shortened at random.
    private func delay(_ attempt: Int) -> Duration {
        let longest = min(configuration.longestBackOff, configuration.backOff * (1 << min(attempt, 16)))
        return longest * Double.random(in: 0.5...1)
    }

    /// Returns whether another attempt may succeed without a change by the user.
    private static func isTemporary(_ end: End) -> Bool {
        if let refusal = end.refusal { return refusal.isTemporary }
        return switch end.error?.code {
        case InletError.Code.invalidConfiguration?, .authenticationFailed?, .notFound?, .unsupported?,
            .addressRefused?, .tlsFailed?:
            false
        default: true
        }
    }

    private func connect() async -> End {
        let client: WebSocketClient
        do throws(InletError) {
            client = try await WebSocketClient.connect(opening)
        } catch { return End(error: error) }
        let texts = outbox.begin()
        let welcome = Welcome()
        let end = await withTaskGroup(of: End.self) { group in
            group.addTask { await send(texts, by: client) }
            group.addTask { await receive(from: client, welcome) }
            group.addTask {
                try? await Task.sleep(for: Self.welcomeLimit)
                // Ends by cancellation, together with the other tasks.
                while welcome.isSaid, !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
                return End(error: InletError(.timedOut, "The room's server sent no welcome in time."))
            }
            let first = await group.next() ?? End()
            group.cancelAll()
            return first
        }
        outbox.end()
        await client.close()
        return End(wasWelcome: welcome.isSaid, error: end.error, refusal: end.refusal)
    }

    /// Sends until the stream ends, which counts as an end without an error.
    private func send(_ texts: AsyncStream<String>, by client: WebSocketClient) async -> End {
        for await text in texts {
            do throws(InletError) {
                try await client.send(.text(text))
            } catch { return End(error: error) }
            outbox.sent(text)
        }
        return End()
    }

    private func receive(from client: WebSocketClient, _ welcome: Welcome) async -> End {
        do throws(InletError) {
            while let message = try await client.next() {
                guard case .text(let text) = message else { continue }
                // A message that cannot be parsed may be from another program. It is ignored, as on any signaling.
                guard let message = try? RoomMessage(json: text) else { continue }
                switch message {
                case .welcome(_, let others, let named):
                    welcome.say()
                    // The servers must be known before an offer can be made.
                    servers.set(named)
                    dispatcher.opened(
                        present: Dictionary(others.map { ($0.id, $0.instance) }, uniquingKeysWith: { $1 }))
                case .servers(let named): servers.set(named)
                case .joined(let member): dispatcher.joined(member.id, instance: member.instance)
                case .left(let member): dispatcher.left(member.id, instance: member.instance)
                case .refused(let refusal): return End(error: refusal.error, refusal: refusal)
                case .envelope(let envelope): dispatcher.receive(envelope)
                }
            }
        } catch { return End(error: error) }
        return End(error: InletError(.disconnected, "The room's server closed the connection."))
    }
}
