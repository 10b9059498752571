package import InletCore
package import InletHTTPServer
package import Logging
import ServiceLifecycle
import Synchronization

/// The daemon's web server: the page, the API and the streams.
package final class ServerService: Service {
    private let listener: HTTPListener
    private let settings: ServerSettings
    private let access: AccessRule
    private let certificate: CertificateService?
    private let clients: ClientLedger
    private let logger: Logger

    /// The tasks that send events to clients while the server runs.
    private let tasks = Mutex<(forwarding: Task<Void, Never>, heartbeat: Task<Void, Never>)?>(nil)

    private static let reserved = 64
    private static let patience = Duration.seconds(10)

    /// Makes the server. It does not listen yet.
    ///
    /// - Parameters:
    ///   - clients: counts wrong tokens and requests.
    ///   - certificate: the certificate of a server with TLS; nil for plain HTTP.
    ///   - listener: owned by the server from ``listen(for:keeper:streams:audit:webhooks:search:makeWebRTC:)`` on.
    package init(
        _ settings: ServerSettings, clients: ClientLedger, certificate: CertificateService? = nil,
        listener: HTTPListener, logger: Logger
    ) {
        self.clients = clients
        (self.settings, self.listener, self.logger, self.certificate) = (settings, listener, logger, certificate)
        let grants = settings.tokens.sorted { $0.key < $1.key }.map {
            AccessRule.Grant($0.value.secret, $0.value.scope, name: $0.key)
        }
        var access = AccessRule(host: settings.host, port: settings.port, grants: grants)
        access.isSecure = certificate != nil
        self.access = access
    }

    /// Starts to listen. Blocks briefly.
    ///
    /// - Parameter streams: counts the streams of all cameras.
    /// - Returns: the address that the server listens on, such as `127.0.0.1:8080`.
    /// - Throws: ``InletError`` if it cannot listen.
    package func listen(
        for cameraSet: CameraSet, keeper: ConfigurationKeeper, streams: StreamCount, audit: AuditLog,
        webhooks: WebhookHub,
        search: CameraSearch? = nil, makeWebRTC: CameraWebRTCRequest.Maker? = nil
    ) throws(InletError) -> String {
        let events = EventHub(listener.loop)
        let responder = ServeResponder(
            cameraSet: cameraSet, keeper: keeper, loop: listener.loop, events: events, settings: settings,
            requiresToken: access.token != nil, streams: streams, audit: audit, webhooks: webhooks,
            search: search, makeWebRTC: makeWebRTC, logger: logger)
        var place = HTTPListener.Place(
            access, connections: settings.streams + Self.reserved, bodyBytes: ServeService.longestBody + 1024,
            patience: Self.patience)
        place.clients = clients
        place.proxy = settings.proxy
        if let certificate { place.makeTLS = { try certificate.makeHandler() } }
        let address = try listener.listen(at: place, logger: logger) { connection in
            ServeService(responder, connection: connection)
        }
        logger.notice("The page is at \(HTTPListener.pages(of: access, at: address))")
        let stream = cameraSet.events
        let forwarding = Task { for await event in stream { events.send(event) } }
        let heartbeat = Task { await Self.beat(events) }
        tasks.withLock { $0 = (forwarding, heartbeat) }
        return address
    }

    private static func beat(_ events: EventHub) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(15))
            if !Task.isCancelled { events.sendHeartbeat() }
        }
    }

    /// Serves until the daemon ends.
    package func run() async throws {
        try? await gracefulShutdown()
        let tasks = tasks.withLock { $0 }
        tasks?.heartbeat.cancel()
        await tasks?.heartbeat.value
        // After the listener's thread has ended, nothing may be sent on it. The cameras have ended before, which ends
        // its events.
        await tasks?.forwarding.value
        listener.stop()
    }
}
