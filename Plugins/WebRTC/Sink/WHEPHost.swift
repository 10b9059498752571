import Dispatch
package import InletCore
package import InletHTTPServer
package import InletRTC
import InletSystem
package import NIOCore
import Synchronization
package import WebRTCEngine

/// Sends one source to viewers that connect by WHEP to the application's server, at a separate path.
///
/// It exists before the sink and outlives it: requests go to the running sink. An offer without a running sink
/// starts one, and waits for its first picture; the limit on viewers applies to waiting offers. Safe from any
/// thread.
package final class WHEPHost: WHEPSessions {
    /// Counts the viewers of several hosts together.
    package struct Places: Sendable {
        /// Returns whether another viewer has a place. If so, ``leave`` follows once.
        package var enter: @Sendable () -> Bool
        /// Frees a place.
        package var leave: @Sendable () -> Void

        package init(enter: @escaping @Sendable () -> Bool, leave: @escaping @Sendable () -> Void) {
            (self.enter, self.leave) = (enter, leave)
        }
    }

    /// Attaches the sink of a configuration to the capture, unless one is attached. Throws the reason if that
    /// fails.
    package typealias Start = @Sendable (any FrameSinkConfiguration) async throws(InletError) -> Void

    let places: Places
    private let configuration: WebRTCSinkConfiguration
    private let start: Start
    private let state: Mutex<State>
    /// The time limit from an offer to the sink's start. The answer then takes additional time, within that of
    /// ``WHEPService``.
    private static let startLimit = DispatchTimeInterval.seconds(10)
    private static let queue = DispatchQueue(label: "inlet.webrtc.host")

    /// An offer that is waiting for the sink.
    private struct Waiter {
        var client: ClientAddress
        var resume: @Sendable (Result<ViewerSessions, InletError>) -> Void
    }

    /// The next step for an offer that has a place.
    private enum Turn {
        case runs(ViewerSessions)
        case waits(Int)
    }

    private struct State {
        var running: ViewerSessions?
        var waiters: [Int: Waiter] = [:]
        /// Counts the waiting offers; the running sink itself counts its viewers.
        var quota: ClientQuota<ClientAddress>
        var count = 0

        /// - Returns: the waiter's number; nil if all places are taken.
        mutating func add(_ waiter: Waiter) -> Int? {
            guard quota.admit(waiter.client, at: .now) else { return nil }
            count += 1
            waiters[count] = waiter
            return count
        }

        mutating func remove(_ number: Int) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: number) else { return nil }
            quota.leave(waiter.client)
            return waiter
        }

        mutating func takeWaiters() -> [Waiter] { waiters.keys.sorted().compactMap { remove($0) } }
    }

    /// - Parameters:
    ///   - configuration: the configuration of the sink. Its address and token are not used, because the
    ///     application's server has its own. Media uses this machine's addresses as set for the host.
    ///   - path: the path to which offers are posted; sessions are below it.
    ///   - places: counts the viewers.
    ///   - start: called for an offer without a running sink.
    package init(_ configuration: WebRTCSinkConfiguration, path: String, places: Places, start: @escaping Start) {
        var configuration = configuration
        configuration.endpointPath = path
        (self.configuration, self.places, self.start) = (configuration, places, start)
        state = Mutex(
            State(quota: ClientQuota(all: configuration.viewers, perClient: configuration.viewersPerClient)))
    }

    /// Returns the service that answers the requests of one connection below the path.
    ///
    /// - Parameter onOffer: called with the status of each answer to an offer whose body was read.
    package func makeService(
        for connection: HTTPConnection, loop: any EventLoop, onOffer: @escaping (Int) -> Void
    ) -> any HTTPService {
        WHEPService(self, page: ByteBuffer(), connection: connection, loop: loop, onOffer: onOffer)
    }

    // MARK: The sink's side

    /// Starts passing requests to the sessions of a running sink.
    func begin(_ sessions: ViewerSessions) {
        let waiters = state.withLock { state in
            state.running = sessions
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume(.success(sessions)) }
    }

    /// Rejects the waiting offers, because the sink did not start.
    func fail(_ error: InletError) {
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume(.failure(error)) }
    }

    /// Stops passing requests to the sessions of an ending sink.
    func end(_ sessions: ViewerSessions) {
        state.withLock { if $0.running === sessions { $0.running = nil } }
    }

    private var running: ViewerSessions? { state.withLock { $0.running } }

    // MARK: Sessions

    package func endpoint(isKnown: Bool) -> WHEPEndpoint {
        if let running { return running.endpoint(isKnown: isKnown) }
        var endpoint = configuration.endpoint
        if !isKnown { endpoint.servers = [] }
        return endpoint
    }

    package func occupancy(for client: ClientAddress) -> QuotaOccupancy {
        running?.occupancy(for: client) ?? state.withLock { $0.quota.occupancy(for: client, at: .now) }
    }

    package func session(_ name: String) -> WHEPEndpoint.Session? { running?.session(name) }
    package func add(_ fragment: TrickleFragment, to session: String) { running?.add(fragment, to: session) }
    package func close(_ session: String) { running?.close(session) }
    package var statisticsJSON: String { running?.statisticsJSON ?? "{}" }

    package func begin(
        _ sdp: String, for request: WHEPRequest, of client: ClientAddress, reply: @escaping Reply
    ) {
        guard let running else { return reply(endpoint(isKnown: true).failed(.local, to: request)) }
        running.begin(sdp, for: request, of: client, reply: reply)
    }

    package func take(
        _ request: WHEPRequest, body: [UInt8], of client: ClientAddress, reply: @escaping Reply
    ) -> Withdrawal? {
        if let running { return running.take(request, body: body, of: client, reply: reply) }
        // A session ended with its sink.
        guard request.method == "POST" else {
            perform(request, body: body, of: client, reply: reply)
            return nil
        }
        let waiter = Waiter(client: client) { result in
            switch result {
            case .success(let sessions): _ = sessions.take(request, body: body, of: client, reply: reply)
            case .failure(let error): reply(Self.refusal(error))
            }
        }
        switch state.withLock({ $0.running.map(Turn.runs) ?? $0.add(waiter).map(Turn.waits) }) {
        // The sink has started meanwhile.
        case .runs(let sessions): return sessions.take(request, body: body, of: client, reply: reply)
        // The places were taken while the body was read.
        case nil: reply(endpoint(isKnown: true).full(request))
        case .waits(let number):
            startSink(for: number)
            return { [weak self] in
                self?.forget(number, InletError(.cancelled, "The viewer has gone."))
            }
        }
        return nil
    }

    /// Starts the sink for a waiting offer, which is rejected if that takes too long or fails.
    private func startSink(for number: Int) {
        Self.queue.asyncAfter(deadline: .now() + Self.startLimit) { [weak self] in
            self?.forget(number, Self.isLate)
        }
        Task {
            do throws(InletError) {
                try await self.start(HostedSinkConfiguration(self, configuration))
            } catch {
                self.forget(number, error)
            }
        }
    }

    private func forget(_ number: Int, _ error: InletError) {
        let waiter = state.withLock { $0.remove(number) }
        waiter?.resume(.failure(error))
    }

    private static var isLate: InletError {
        InletError(.timedOut, "The camera delivered no picture within 10 seconds. Try again.")
    }

    /// Returns the response to an offer without a sink. A source without pictures is not the server's fault, so
    /// only a missing library has a status of 500 or higher.
    private static func refusal(_ error: InletError) -> WHEPResponse {
        switch error.code {
        case .unsupported: .refusal(501, error.message)
        case .resourceExhausted: .refusal(503, error.message, [.init("retry-after", "5")])
        case .notFound: .refusal(404, error.message)
        default: .refusal(409, error.message, [.init("retry-after", "2")])
        }
    }
}

/// The configuration of a host's sink.
private struct HostedSinkConfiguration: FrameSinkConfiguration {
    private let host: WHEPHost
    private let configuration: WebRTCSinkConfiguration

    init(_ host: WHEPHost, _ configuration: WebRTCSinkConfiguration) {
        (self.host, self.configuration) = (host, configuration)
    }

    var redactedURI: String { "webrtc:" }
    func makeSink() -> any FrameSink { WebRTCSink(configuration, host: host) }
}
