import InletCore
import InletHTTPServer
import Logging
import NIOCore
import NIOHTTP1

/// State that the connections of the daemon's server share: the cameras, their configuration, and the handling of
/// requests. Safe from any thread.
final class ServeResponder: Sendable {
    static let page = ByteBuffer(string: PackageTexts.cameras_html)

    /// The server's only thread.
    let loop: any EventLoop
    let events: EventHub
    let streams: StreamCount
    /// Whether clients must present a token.
    let requiresToken: Bool
    let audit: AuditLog
    /// The cameras of each token, by the token's name.
    private let cameras: [String: CameraFilter]
    private let cameraSet: CameraSet
    let keeper: ConfigurationKeeper
    /// Searches for cameras; nil if search is not supported.
    let search: CameraSearch?
    let (searches, tryOuts) = (StreamCount(most: mostSearches), StreamCount(most: mostTryOuts))
    let logger: Logger
    private let webhooks: WebhookHub
    let webRTC: WebRTCDirectory
    /// The MP4 streams of cameras that have viewers. Used on the server's thread.
    private let fragmentHubs: NIOLoopBoundBox<[ObjectIdentifier: FragmentHub]>
    /// The HTTP Live Streaming of cameras with recent requests. Used on the server's thread.
    private let segmentHubs: NIOLoopBoundBox<[ObjectIdentifier: SegmentHub]>

    init(
        cameraSet: CameraSet, keeper: ConfigurationKeeper, loop: any EventLoop, events: EventHub,
        settings: ServerSettings,
        requiresToken: Bool, streams: StreamCount, audit: AuditLog, webhooks: WebhookHub, search: CameraSearch?,
        makeWebRTC: CameraWebRTCRequest.Maker?, logger: Logger
    ) {
        (self.search, self.logger) = (search, logger)
        (self.loop, self.audit, self.webhooks) = (loop, audit, webhooks)
        cameras = settings.tokens.mapValues(\.cameras)
        (self.cameraSet, self.keeper, self.events, self.requiresToken) = (cameraSet, keeper, events, requiresToken)
        fragmentHubs = .makeBoxSendingValue([:], eventLoop: loop)
        segmentHubs = .makeBoxSendingValue([:], eventLoop: loop)
        self.streams = streams
        webRTC = WebRTCDirectory(makeWebRTC, settings, cameraSet: cameraSet, streams: streams)
    }

    /// The scope of clients without a token if none is required: those are users of this machine.
    var scopeWithoutToken: AccessScope { requiresToken ? .view : .control }

    /// Returns the hub that passes a camera's pictures to viewers; nil if there is no such camera.
    func view(of name: String) -> PictureHub? { cameraSet.views[name] }

    /// Returns the cameras of a token; all cameras if the token has no name or there is no token.
    func cameras(ofToken name: String?) -> CameraFilter { name.flatMap { cameras[$0] } ?? .all }

    /// Returns the hub of a camera's MP4 stream. Called on the server's thread.
    func fragments(of media: CameraMedia) -> FragmentHub {
        let key = ObjectIdentifier(media)
        if let hub = fragmentHubs.value[key] { return hub }
        // The hub holds its camera's packets, even of a camera that has been removed. It is released with its last
        // viewer.
        let hub = FragmentHub(media, loop: loop) { [fragmentHubs] hub in
            if fragmentHubs.value[key] === hub { fragmentHubs.value[key] = nil }
        }
        fragmentHubs.value[key] = hub
        return hub
    }

    /// Returns the HTTP Live Streaming of a camera; nil if it has had no recent requests. Called on the server's
    /// thread.
    func openSegments(of media: CameraMedia) -> SegmentHub? {
        segmentHubs.value[ObjectIdentifier(media)].flatMap { $0.isOpen ? $0 : nil }
    }

    /// Returns the HTTP Live Streaming of a camera, and starts it if necessary. All of its clients count as one stream.
    /// Called on the server's thread.
    ///
    /// - Returns: nil if the limit on streams has been reached.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system cannot create a thread.
    func segments(of media: CameraMedia) throws(InletError) -> SegmentHub? {
        if let hub = openSegments(of: media) { return hub }
        guard streams.begin() else { return nil }
        do throws(InletError) {
            let key = ObjectIdentifier(media)
            let hub = try SegmentHub({ self.fragments(of: media) }, loop: loop) { [streams, segmentHubs] hub in
                if segmentHubs.value[key] === hub { segmentHubs.value[key] = nil }
                streams.end()
            }
            segmentHubs.value[key] = hub
            return hub
        } catch {
            streams.end()
            throw error
        }
    }

    /// Returns a camera; nil if there is no camera of that name.
    func camera(_ name: String) async -> SupervisedCamera? { await cameraSet.camera(name) }

    /// Answers a request without a body.
    ///
    /// - Parameter visible: the cameras that the client may see. The route's camera is one of them.
    func answer(to route: ServeRoute, isTrial: Bool, visible: CameraFilter) async -> HTTPAnswer {
        switch route {
        case .health: return .text("alive", .ok)
        case .readiness: return await readiness
        case .metrics: return await metrics(of: visible)
        case .list: return .json(.object([("cameras", .list(await statuses(of: visible).map(\.json)))]))
        case .show(let name): return await about(name) { .json(await $0.status.json) }
        case .statistics(let name):
            return await about(name) { camera in
                let text = StatisticsJSON.text(of: await camera.status.statistics ?? CaptureStatistics())
                return HTTPAnswer(type: "application/json", body: ByteBuffer(string: text))
            }
        case .history(let name):
            return await about(name) { camera in
                .json(
                    .object([
                        ("interval", .number(CameraHistory.interval.inSeconds)),
                        ("samples", .list(await camera.recentHistory.map(\.json))),
                    ]))
            }
        case .pause(let name), .resume(let name), .restart(let name):
            return await control(name, route, isTrial: isTrial)
        case .endRecording(let name): return await endRecording(name, isTrial: isTrial)
        case .deleteRecording(let name, let file): return await deleteRecording(file, of: name, isTrial: isTrial)
        case .remove(let name):
            return Self.answer(
                to: await keeper.remove(name, isTrial: isTrial), of: name, isTrial: isTrial, visible: visible)
        case .revert(let name):
            return Self.answer(
                to: await keeper.revert(name, isTrial: isTrial), of: name, isTrial: isTrial, visible: visible)
        case .reload:
            switch await keeper.reload(isTrial: isTrial) {
            case .success(let plan): return .changes(plan.summary, isTrial: isTrial)
            case .failure(let problems):
                return .problem(
                    .unprocessableEntity, "The configuration or the file of changes has errors. Nothing was changed.",
                    problems.list)
            }
        case .discover: return isTrial ? .changes([], isTrial: true) : await discover()
        case .logLevel: return .json(.object([("level", .text(LogLevelSwitch.level.rawValue))]))
        default: return .problem(.notFound, "There is nothing at this address.")
        }
    }

    /// Pauses, resumes or restarts a camera. A dry run only reports the change.
    private func control(_ name: String, _ route: ServeRoute, isTrial: Bool) async -> HTTPAnswer {
        guard await cameraSet.camera(name) != nil else { return .noCamera(name) }
        let change: String
        switch route {
        case .pause:
            change = "paused"
            if !isTrial { guard await keeper.setPaused(name, true) else { return .noCamera(name) } }
        case .resume:
            change = "resumed"
            if !isTrial { guard await keeper.setPaused(name, false) else { return .noCamera(name) } }
        default:
            change = "restarted"
            if !isTrial { guard await cameraSet.restart(name) else { return .noCamera(name) } }
        }
        return isTrial ? .changes([(name, change)], isTrial: true) : HTTPAnswer(.noContent)
    }

    /// Answers a request with a body.
    ///
    /// - Parameter visible: the cameras that the client may see. The route's camera is one of them.
    func change(
        _ route: ServeRoute, _ body: JSONValue, isTrial: Bool, visible: CameraFilter
    ) async -> HTTPAnswer {
        switch route {
        case .add:
            guard let name = body["name"]?.text, let members = body.members else {
                return .problem(.unprocessableEntity, "The body must be an object with a camera's keys and its name.")
            }
            // The response must not reveal whether there is a camera of that name.
            guard visible.allows(name) else {
                return .problem(.forbidden, "The token is for other cameras.")
            }
            let camera = JSONValue(
                content: .object(members.filter { !$0.key.isSameBytes(as: "name") }), line: body.line)
            let outcome = await keeper.set(name, camera, isNew: true, isTrial: isTrial)
            return Self.answer(to: outcome, of: name, isNew: !isTrial, isTrial: isTrial, visible: visible)
        case .set(let name):
            // In the overlay, null means that a camera is removed.
            if case .null = body.content {
                return .problem(.unprocessableEntity, "The body must be a camera: the URI of its source, or an object.")
            }
            let isNew = await cameraSet.camera(name) == nil
            let outcome = await keeper.set(name, body, isNew: false, isTrial: isTrial)
            return Self.answer(to: outcome, of: name, isNew: isNew && !isTrial, isTrial: isTrial, visible: visible)
        case .record(let name): return await record(name, body, isTrial: isTrial)
        case .tryOut: return await tryOut(body, isTrial: isTrial, visible: visible)
        case .setLogLevel:
            guard let level = body["level"]?.text.flatMap({ Logger.Level(rawValue: $0) }), body.members?.count == 1
            else {
                let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                return .problem(.unprocessableEntity, "The body must be {\"level\": LEVEL}, with one of \(levels).")
            }
            if !isTrial { LogLevelSwitch.level = level }
            return .json(.object([("dryRun", .boolean(isTrial)), ("level", .text(level.rawValue))]))
        default: return .problem(.notFound, "There is nothing at this address.")
        }
    }

    private func about(_ name: String, _ body: (SupervisedCamera) async -> HTTPAnswer) async -> HTTPAnswer {
        guard let camera = await cameraSet.camera(name) else { return .noCamera(name) }
        return await body(camera)
    }

    private var readiness: HTTPAnswer {
        get async {
            switch await cameraSet.progress {
            case .starting: return .text("The cameras have not started yet", .serviceUnavailable)
            case .stopping: return .text("The daemon is shutting down", .serviceUnavailable)
            case .started: break
            }
            let statuses = await cameraSet.statuses
            let healthy = statuses.count(where: \.isHealthy)
            return .text("\(healthy) of \(statuses.count) cameras are healthy", .ok)
        }
    }

    private func statuses(of visible: CameraFilter) async -> [CameraStatus] {
        await cameraSet.statuses.filter { visible.allows($0.settings.name) }
    }

    private func metrics(of visible: CameraFilter) async -> HTTPAnswer {
        let cameras = await statuses(of: visible)
        let use = await cameraSet.processorUse
        let captures = cameras.compactMap { status in
            status.statistics.map { (labels: [("camera", status.settings.name)], statistics: $0) }
        }
        return HTTPAnswer(
            type: "text/plain; version=0.0.4; charset=utf-8",
            // The metrics of streams and webhooks cover all cameras, so clients limited to some cameras do not get
            // them.
            body: ByteBuffer(
                string: PrometheusText.text(of: captures) + BudgetMetrics.text(of: cameras)
                    + StreamMetrics.text(of: cameras)
                    + (visible.isLimited
                        ? "" : StreamMetrics.text(of: streams) + BudgetMetrics.text(of: use) + webhooks.metrics)))
    }

    private static func answer(
        to outcome: ConfigurationKeeper.Outcome, of name: String, isNew: Bool = false, isTrial: Bool,
        visible: CameraFilter
    ) -> HTTPAnswer {
        switch outcome {
        case .done(let plan):
            var answer = HTTPAnswer.changes(plan.summary, isNew ? .created : .ok, isTrial: isTrial)
            if isNew { answer.headers.add(name: "location", value: "/v1/cameras/\(name)") }
            return answer
        case .wrong(let problems):
            return .problem(
                .unprocessableEntity, "The camera's settings are invalid.", problems.list.map { $0.told(to: visible) })
        case .exists:
            return .problem(.conflict, "The camera '\(name.sanitized(limit: 80))' already exists. PUT changes it.")
        case .missing: return .noCamera(name)
        case .unchanged:
            return .problem(
                .notFound, "The API has no changes of a camera '\(name.sanitized(limit: 80))'.")
        case .failed(let error): return .problem(.insufficientStorage, error.description)
        }
    }
}
