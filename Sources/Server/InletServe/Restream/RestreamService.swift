import Dispatch
import InletCore
import InletHTTPServer
import InletSystem
import Logging
import ServiceLifecycle
import Synchronization

/// Serves the daemon's cameras by RTSP, as `rtsp://HOST:PORT/NAME`. A service of the daemon.
final class RestreamService: Service {
    private let server: any RestreamServer
    private let opener: Opener

    /// The number of connections allowed in addition to those with a stream.
    private static let reserved = 16

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - streams: counts the readers as streams of the daemon.
    ///   - clients: counts wrong passwords and requests, together with those of the HTTP server.
    /// - Throws: ``InletError`` if it cannot listen.
    init(
        _ address: RestreamSettings, _ settings: ServerSettings, cameraSet: CameraSet, streams: StreamCount,
        clients: ClientLedger, logger: Logger, make: RestreamRequest.Maker
    ) throws(InletError) {
        let views = cameraSet.views
        let cameras = settings.tokens.mapValues(\.cameras)
        opener = Opener(cameraSet: cameraSet, streams: streams, logger: logger)
        let users = settings.tokens.mapValues(\.secret)
        let connections = settings.streams + Self.reserved
        let open = opener.open
        let door = RestreamDoor(users: users, connections: connections, clients: clients, logger: logger)
        server = try make(
            RestreamRequest(
                host: address.host, port: address.port, users: users, connections: connections, open: open, door: door,
                permits: { user, camera in
                    views[camera] != nil && (user.flatMap { cameras[$0] } ?? .all).allows(camera)
                }))
        let place = address.host.utf8.contains(UInt8(ascii: ":")) ? "[\(address.host)]" : address.host
        logger.notice("Cameras are at rtsp://\(place):\(server.port)/NAME.")
    }

    /// Ends all waits and connections. Called when the daemon stops, or if it fails before serving. Blocks.
    func stop() {
        opener.stop()
        server.stop()
    }

    /// Serves until the daemon ends.
    func run() async throws {
        try? await gracefulShutdown()
        let ended = AsyncStream<Void>.makeStream()
        do throws(InletError) {
            // This runs on a separate thread and not on a thread of tasks, because it waits for connections.
            try SystemThread.start(named: "inlet-rtsp-stop") { [self] in
                stop()
                ended.continuation.finish()
            }
        } catch {
            ended.continuation.finish()
        }
        for await _ in ended.stream {}
    }

    /// Opens cameras for readers, and blocks the readers' threads.
    private final class Opener: Sendable {
        private let cameraSet: CameraSet
        private let streams: StreamCount
        private let logger: Logger
        /// The readers that wait for their first key frame; nil when the server is stopping.
        private let waiting = Mutex<[ObjectIdentifier: RestreamReader]?>([:])

        init(cameraSet: CameraSet, streams: StreamCount, logger: Logger) {
            (self.cameraSet, self.streams, self.logger) = (cameraSet, streams, logger)
        }

        /// Ends all waits for a first key frame, and prevents new ones. Returns immediately.
        func stop() {
            let readers = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            for reader in (readers ?? [:]).values { reader.giveUp() }
        }

        /// Returns whether a reader's first key frame arrived before the timeout and before the server stopped. Blocks.
        private func hasBeginning(_ reader: RestreamReader) -> Bool {
            let mayWait = waiting.withLock { waiting in
                waiting?[ObjectIdentifier(reader)] = reader
                return waiting != nil
            }
            defer { waiting.withLock { _ = $0?.removeValue(forKey: ObjectIdentifier(reader)) } }
            return mayWait && reader.waitForBeginning()
        }

        @Sendable func open(
            _ user: String?, _ camera: String, _ outlet: any RestreamOutlet
        ) throws(RestreamRefusal) -> RestreamReader {
            guard waiting.withLock({ $0 != nil }) else {
                throw refuse(camera, .serviceUnavailable, "The daemon is shutting down.")
            }
            guard streams.begin(.rtsp) else { throw refuse(camera, .serviceUnavailable, "There are too many streams.") }
            do throws(RestreamRefusal) {
                return try begin(user, camera, outlet)
            } catch {
                streams.end(.rtsp)
                throw error
            }
        }

        private func begin(
            _ user: String?, _ camera: String, _ outlet: any RestreamOutlet
        ) throws(RestreamRefusal) -> RestreamReader {
            let facts: Logger.Metadata = ["camera": "\(camera)", "user": "\(user ?? "anonymous")"]
            let media: CameraMedia
            switch needPackets(of: camera) {
            case .success(let found): media = found
            case .failure(let error):
                let refusal: RestreamRefusal =
                    switch error.code {
                    case .notFound: .notFound
                    case .unsupported: .unsupportedMediaType
                    default: .serviceUnavailable
                    }
                throw refuse(camera, refusal, error.message)
            }
            let reader: RestreamReader
            let isOpen = Mutex(false)
            do throws(InletError) {
                reader = try RestreamReader(media, outlet) { [streams, logger] in
                    // If the reader was refused, ``open`` releases its stream.
                    guard isOpen.withLock({ $0 }) else { return }
                    streams.end(.rtsp)
                    logger.info("An RTSP reader has left.", metadata: facts)
                }
            } catch {
                throw refuse(camera, error.code == .notFound ? .notFound : .serviceUnavailable, error.message)
            }
            logger.debug("An RTSP reader is waiting for a key frame.", metadata: facts)
            guard hasBeginning(reader) else {
                reader.close()
                if waiting.withLock({ $0 == nil }) {
                    throw refuse(camera, .serviceUnavailable, "The daemon is shutting down.")
                }
                throw refuse(camera, .gatewayTimeout, "The camera sent no key frame in time.")
            }
            isOpen.withLock { $0 = true }
            logger.info("An RTSP reader has connected.", metadata: facts)
            return reader
        }

        private func refuse(_ camera: String, _ refusal: RestreamRefusal, _ message: String) -> RestreamRefusal {
            logger.info(
                "An RTSP reader was refused: \(message)",
                metadata: ["camera": "\(camera)", "status": "\(refusal.rawValue)"])
            return refusal
        }

        /// Returns the packets of a camera for a new reader. Blocks.
        private func needPackets(of name: String) -> Result<CameraMedia, InletError> {
            let found = Mutex<Result<CameraMedia, InletError>?>(nil)
            let isKnown = DispatchSemaphore(value: 0)
            let task = Task { [cameraSet] in
                var result = Result<CameraMedia, InletError>.failure(
                    InletError(.notFound, "There is no such camera."))
                if let camera = await cameraSet.camera(name) {
                    do throws(InletError) {
                        try await camera.needPackets()
                        result = .success(camera.media)
                    } catch {
                        result = .failure(error)
                    }
                }
                found.withLock { [result] in $0 = result }
                isKnown.signal()
            }
            if isKnown.wait(timeout: .now() + .seconds(5)) == .timedOut { task.cancel() }
            return found.withLock { $0 } ?? .failure(InletError(.busy, "The camera is being changed."))
        }
    }
}

/// The settings of the RTSP server.
package struct RestreamSettings: Sendable, Hashable {
    package var host: String
    /// The port; 0 lets the system choose one.
    package var port: Int

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }
}
