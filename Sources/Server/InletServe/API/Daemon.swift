import InletCore
import InletHTTPServer
import Logging
import ServiceLifecycle
import UnixSignals

/// The daemon: the cameras, the server, and the services that react to changes.
package enum Daemon {
    /// The time in which sources close and recordings finish when the daemon stops.
    private static let farewell = Duration.seconds(20)

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - path: the configuration.
    ///   - overlayPath: the file for changes by the API; nil for the default path next to the configuration.
    ///   - search: searches for cameras when the API requests it; nil if search is not supported.
    /// - Throws: ``ConfigurationProblems`` or an ``InletError`` if the daemon cannot start.
    package static func run(
        path: String, overlayPath: String?, reader: ConfigurationReader, search: CameraSearch?
    ) async throws {
        let logger = Logger(label: "inlet.serve")
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let listener = HTTPListener()
        let cameraSet = CameraSet(
            registry: reader.registry, logger: logger, makeProcess: reader.makeProcess,
            makeView: { PictureHub(listener.loop, context: nil) })
        let webhooks = WebhookHub(logger: logger)
        let (keeper, server, audit): (ConfigurationKeeper, ServerService, AuditLog)
        var restream: RestreamService?
        let certificate: CertificateService?
        do {
            keeper = try ConfigurationKeeper(
                path: path, overlayPath: overlayPath, reader: reader, cameraSet: cameraSet, webhooks: webhooks,
                logger: logger)
            audit = try AuditLog(path: await keeper.server.audit, logger: logger) { text in
                logger.error("\(text)")
                cameraSet.report(CameraSetEvent("audit-failed", text, camera: nil))
            }
            let settings = await keeper.server
            certificate =
                if let files = settings.tls {
                    try CertificateService(files, logger: logger) { cameraSet.report($0) }
                } else {
                    nil
                }
            let clients = ClientLedger(
                RequestRates(perClient: settings.requestsPerClient, perToken: settings.requestsPerToken))
            server = ServerService(
                settings, clients: clients, certificate: certificate, listener: listener, logger: logger)
            let streams = StreamCount(most: settings.streams)
            if let address = settings.restream, let make = reader.makeRestream {
                restream = try RestreamService(
                    address, settings, cameraSet: cameraSet, streams: streams, clients: clients, logger: logger,
                    make: make)
            }
            _ = try server.listen(
                for: cameraSet, keeper: keeper, streams: streams, audit: audit, webhooks: webhooks, search: search,
                makeWebRTC: reader.makeWebRTC)
        } catch {
            restream?.stop()
            listener.stop()
            throw error
        }
        let notifier = NotifierService(
            ServiceNotifier(socket: ServiceEnvironment.notifySocket), cameraSet: cameraSet,
            watchdog: ServiceEnvironment.watchdog)
        // The services stop in the reverse order. The notifier is first, to report that the daemon is stopping. The
        // server is last, because cameras have viewers until the end.
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(service: server), .init(service: WebhookService(webhooks, cameraSet: cameraSet)),
                .init(service: CameraSetService(cameraSet, keeper: keeper)),
                .init(service: ReloadService(path: path, keeper: keeper, audit: audit, signals: hangUps)),
            ] + upkeep(of: cameraSet).map { .init(service: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        if let restream { configuration.services.append(.init(service: restream)) }
        if let certificate { configuration.services.append(.init(service: certificate)) }
        configuration.services.append(.init(service: notifier))
        configuration.maximumGracefulShutdownDuration = farewell
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            await audit.finish()
            throw error
        }
        await audit.finish()
    }

    /// Returns the regular work on all cameras.
    private static func upkeep(of cameraSet: CameraSet) -> [PeriodicService] {
        [
            PeriodicService(every: CameraHistory.interval) { await cameraSet.closeHistory() },
            PeriodicService(every: .seconds(60), startsAtOnce: true) { await cameraSet.retainRecordings() },
            PeriodicService(every: .seconds(2)) { await cameraSet.watchSinks() },
            PeriodicService(every: .seconds(1)) { await cameraSet.balanceCores() },
        ]
    }
}
