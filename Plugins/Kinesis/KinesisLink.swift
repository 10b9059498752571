import Foundation
import InletCore
import InletRTC
import InletTLS
import InletWebSocket
import Logging
import Synchronization

/// The connection of a ``KinesisSignaling`` to its channel, which is opened again whenever it ends. Safe from any
/// thread.
final class KinesisLink: Sendable {
    /// The way in which a connection ended.
    private enum Ending: Sendable {
        /// Another connection must be opened at once.
        case renewed
        case failed(InletError)
    }

    private struct State {
        var flows = KinesisFlows()
        var place: (endpoints: KinesisAPI.Endpoints, arn: String)?
        var relays: [ICEServer] = []
        /// The time when the relays must be requested again, in seconds since 1970.
        var relaysUntil: Int64 = 0
        var failure: InletError?
        var hasOpened = false
    }

    let dispatcher: SignalingDispatcher
    private let configuration: KinesisConfiguration
    private let api: KinesisAPI
    private let outbox: KinesisOutbox
    private let logger: Logger
    private let state = Mutex(State())
    /// The time limits for reaching a channel for the first time, for waiting for relays, and for the wait between
    /// two attempts.
    private static let (openingLimit, relayLimit) = (Duration.seconds(30), Duration.seconds(2))
    private static let longestBackOff = Duration.seconds(30)

    init(
        _ configuration: KinesisConfiguration, _ environment: AWSEnvironment, _ logger: Logger
    ) throws(InletError) {
        let ofARN = KinesisConfiguration.isARN(configuration.channel) ? try configuration.arn().region : nil
        let chain = AWSCredentialsChain(
            profile: configuration.profile, givenRegion: configuration.region ?? ofARN, environment: environment)
        api = try KinesisAPI(configuration, environment, AWSCredentialsCache(chain, logger))
        self.configuration = configuration
        self.logger = logger
        let outbox = KinesisOutbox(most: configuration.mostUnsent)
        self.outbox = outbox
        let name =
            if case .viewer(let clientID) = configuration.role { clientID } else { KinesisSignaling.masterName }
        dispatcher = SignalingDispatcher(
            SignalingRouter(localID: try PeerID(name), hasPresence: false)
        ) { (envelope: SignalingEnvelope) throws(SignalingFailure) in
            guard case .session(let message) = envelope.content, let peer = envelope.to else { return }
            outbox.append(message, to: peer)
        }
    }

    var failure: InletError? { state.withLock { $0.failure } }

    /// Ends the service. Further calls do nothing.
    func finish(_ error: InletError?) {
        state.withLock { $0.failure = $0.failure ?? error }
        outbox.close()
        dispatcher.closed(error)
    }

    /// Connects, repeatedly, until the task is cancelled or the service rejects this side.
    func run() async {
        let began = ContinuousClock.now
        var attempts = 0
        var refusals = 0
        while !Task.isCancelled {
            let ending = await connect()
            guard !Task.isCancelled else { break }
            guard case .failed(let error) = ending else {
                attempts = 0
                continue
            }
            let hasOpened = state.withLock { $0.hasOpened }
            if dispatcher.isOpen { (attempts, refusals) = (0, 0) }
            dispatcher.interrupted(error)
            // A new attempt after a rejection uses credentials that may have been renewed.
            if error.code == .authenticationFailed {
                refusals += 1
                await api.credentials.forget()
            }
            let isLate = !hasOpened && ContinuousClock.now - began > Self.openingLimit
            guard !Self.isFinal(error), refusals < 2, !isLate else {
                finish(error.about(configuration.redactedURI))
                return
            }
            logger.warning("\(error.about(configuration.redactedURI)) Connecting again.")
            attempts += 1
            let longest = min(Self.longestBackOff, configuration.backOff * (1 << min(attempts - 1, 10)))
            let wait = attempts == 1 && hasOpened ? .zero : error.retryAfter ?? longest
            try? await Task.sleep(for: min(wait, Self.longestBackOff) * Double.random(in: 0.7...1))
        }
        finish(nil)
    }

    private static func isFinal(_ error: InletError) -> Bool {
        let codes: [InletError.Code] = [
            .invalidConfiguration, .notFound, .unsupported, .addressRefused, .permissionDenied,
            .authenticationFailed,
        ]
        // While the channel is being moved, its WebSocket may reject what the service accepts.
        return codes.contains(error.code) && error.context.operation != "WebSocket"
    }

    /// Connects, and stays connected until the connection ends or must be renewed.
    private func connect() async -> Ending {
        do throws(InletError) {
            let arn: String
            if let known = state.withLock({ $0.place?.arn }) {
                arn = known
            } else {
                arn = try await api.channelARN()
            }
            let endpoints = try await api.endpoints(of: arn)
            state.withLock { $0.place = (endpoints, arn) }
            let address = try WebSocketAddress(try await api.socketAddress(endpoints, arn))
            var socket = WebSocketConfiguration(address: address)
            socket.tls.authorities = configuration.authorities
            socket.tls.peer = "signaling channel"
            socket.mostMessageBytes = 2 * KinesisMessage.longestPayload
            let client = try await WebSocketClient.connect(socket)
            await refreshRelays()
            state.withLock { $0.hasOpened = true }
            logger.info("connected to \(configuration.redactedURI) in \(api.region)")
            dispatcher.opened()
            let ending = await use(client)
            await client.close()
            return ending
        } catch {
            return .failed(error)
        }
    }

    private func use(_ client: WebSocketClient) async -> Ending {
        let additions = outbox.additions()
        return await withTaskGroup(of: Ending.self) { group in
            group.addTask { await self.receive(client) }
            group.addTask { await self.send(client, additions) }
            group.addTask { [limit = configuration.connectionLimit] in
                try? await Task.sleep(for: limit)
                return .renewed
            }
            let ending = await group.next() ?? .renewed
            group.cancelAll()
            return ending
        }
    }

    private func send(_ client: WebSocketClient, _ additions: AsyncStream<Void>) async -> Ending {
        for await _ in additions {
            while !Task.isCancelled, let item = outbox.next() {
                let recipient = configuration.role == .master ? item.peer.description : nil
                guard let text = KinesisMessage.text(item.message, to: recipient) else { continue }
                state.withLock { $0.flows.sent(item.message, to: item.peer) }
                do {
                    try await client.send(.text(text))
                } catch {
                    outbox.restore(item)
                    return .failed(error)
                }
            }
        }
        return .renewed
    }

    private func receive(_ client: WebSocketClient) async -> Ending {
        while true {
            do throws(InletError) {
                guard let message = try await client.next() else {
                    let closing = client.closing
                    let reason = closing.map { "\($0.code.map { "\($0)" } ?? "no code") \($0.reason)" } ?? ""
                    return .failed(
                        InletError(
                            .disconnected, "Kinesis Video ended the connection (\(reason.trimmed())).",
                            context: .init(operation: "WebSocket")))
                }
                guard case .text(let text) = message, let (content, sender) = KinesisMessage.read(text) else {
                    continue
                }
                if take(content, from: sender) { return .renewed }
            } catch {
                return .failed(error)
            }
        }
    }

    /// - Returns: whether the connection must be renewed.
    private func take(_ message: KinesisMessage, from sender: String?) -> Bool {
        switch message {
        case .goAway:
            logger.info("\(configuration.redactedURI): the service is moving the connection")
            return true
        case .reconnectICEServer: state.withLock { $0.relaysUntil = 0 }
        case .status(let code, let kind, let description):
            guard !code.hasBytePrefix("2") else { return false }
            logger.warning(
                "\(configuration.redactedURI): a message was not delivered: \(code) \(kind) \(description)")
        case .offer, .answer, .candidate:
            let name = sender ?? (configuration.role == .master ? nil : KinesisSignaling.masterName)
            guard let name, let peer = try? PeerID(name),
                let content = state.withLock({ $0.flows.received(message, from: peer) })
            else { return false }
            dispatcher.receive(SignalingEnvelope(from: peer, to: dispatcher.localID, .session(content)))
        }
        return false
    }

    // MARK: Relays

    func iceServers() async -> [ICEServer] {
        let isFresh = state.withLock { $0.relaysUntil > api.environment.now() }
        if !isFresh { await refreshRelays() }
        let stun = "stun:stun.kinesisvideo.\(api.region).amazonaws.com:443"
        let own = api.isAWS ? (try? ICEServer(stun)).map { [$0] } ?? [] : []
        return own + state.withLock { $0.relays }
    }

    private func refreshRelays() async {
        guard let place = state.withLock({ $0.place }) else { return }
        let api = api
        let result = await withTaskGroup(of: Result<([ICEServer], Duration), InletError>.self) { group in
            group.addTask {
                do throws(InletError) {
                    let (servers, lifetime) = try await api.iceServers(place.endpoints, place.arn)
                    return .success((servers, lifetime))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: Self.relayLimit)
                return .failure(InletError(.timedOut, "Kinesis Video returned no relays in time."))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .success(([], .seconds(30)))
        }
        switch result {
        case .success((let servers, let lifetime)):
            let seconds = lifetime.components.seconds
            state.withLock { state in
                state.relays = servers
                state.relaysUntil = api.environment.now() + seconds - min(30, seconds / 5)
            }
        case .failure(let error):
            logger.warning("\(error.about(configuration.redactedURI)) AWS's relays are not available.")
        }
    }
}
