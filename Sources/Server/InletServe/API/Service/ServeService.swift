import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

/// Answers the requests of one connection to the daemon. Confined to its channel's thread.
final class ServeService: HTTPService {
    /// The maximum number of bytes of a body.
    static let longestBody = 65_536
    static let answerLimit = TimeAmount.seconds(30)
    /// The time for an answer that waits for a camera. The wait itself normally ends earlier.
    static let cameraLimit = TimeAmount(AwaitedMedia.longestLimit + .seconds(5))
    /// The maximum number of bytes of events that wait for a slow client.
    private static let longestBacklog = 65_536

    let daemon: ServeResponder
    weak var connection: HTTPConnection?
    /// Counts requests, so that the response to an abandoned request is not sent as that of the next one.
    private var number = 0
    var watching = Watching.nothing
    /// The cameras that the client of the latest request may see.
    private var visible = CameraFilter.all
    private var parts = PictureParts()
    private var backlog = ByteBuffer()
    var fragments = FragmentQueue()
    var isSending = false
    /// The cookie for a client that waits for a playlist; nil if it gets no cookie.
    var cookie: String?
    /// The service that answers a WebRTC request; nil if the latest request is a different one.
    var whep: (any HTTPService)?
    /// The task that makes the deferred answer.
    private var pending: Task<Void, Never>?

    enum Watching {
        case nothing
        case snapshot(PictureHub)
        case stream(PictureHub)
        case events
        case download(FileDownload)
        case fragments(FragmentHub)
        case playlist(SegmentHub)
    }

    init(_ daemon: ServeResponder, connection: HTTPConnection) { (self.daemon, self.connection) = (daemon, connection) }

    func isPublic(_ request: HTTPRequest) -> Bool {
        (try? ServeRoute.find(request.method, request.path)).map { $0.scope == nil } ?? false
    }

    func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep {
        whep = nil
        let route: ServeRoute
        do throws(ServeRoute.Failure) {
            route = try ServeRoute.find(request.method, request.path)
        } catch {
            return .answer(Self.answer(to: error))
        }
        let step = begin(route, request)
        if case .answer(let answer) = step { auditor(of: route, request)?(answer, nil) }
        return step
    }

    private func begin(_ route: ServeRoute, _ request: HTTPRequest) -> HTTPStep {
        visible = daemon.cameras(ofToken: connection?.tokenName(of: request))
        if let refusal = refusal(of: route, request) { return .answer(refusal) }
        if case .watch(let name) = route { return beginWebRTC(of: name, route, request) }
        if case .session(let name) = route { return beginWebRTC(of: name, route, request) }
        if route.takesBody {
            guard request.isJSON else {
                return .answer(
                    .problem(.unsupportedMediaType, "The body must be JSON, with content-type: application/json."))
            }
            guard (request.length ?? 0) <= Self.longestBody else {
                return .answer(.problem(.payloadTooLarge, "The body has more than \(Self.longestBody) bytes."))
            }
            return request.hasBody ? .read(Self.longestBody) : .answer(.problem(.badRequest, "The body is missing."))
        }
        guard !request.hasBody else { return .answer(.problem(.payloadTooLarge, "This request must have no body.")) }
        return respond(route, request)
    }

    func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep {
        if let whep { return whep.finish(request, body: body) }
        guard let route = try? ServeRoute.find(request.method, request.path) else {
            return .answer(Self.answer(to: .unknown))
        }
        let value: JSONValue
        do throws(InletError) {
            value = try JSONReader.read(Array(body.readableBytesView))
        } catch {
            let answer = HTTPAnswer.problem(.badRequest, "The body is not JSON: \(error.message)")
            auditor(of: route, request)?(answer, nil)
            return .answer(answer)
        }
        let isTrial = request.isTrial ?? true
        let note = auditor(of: route, request)
        return later { [daemon, visible] in
            let answer = await daemon.change(route, value, isTrial: isTrial, visible: visible)
            note?(answer, value["name"]?.text)
            return answer
        }
    }

    /// Returns a function that records the outcome of a change, with the camera's name from the body if a camera is
    /// added; nil if the route is not recorded.
    func auditor(of route: ServeRoute, _ request: HTTPRequest) -> (@Sendable (HTTPAnswer, String?) -> Void)? {
        guard let (action, camera) = route.change else { return nil }
        let actor = AuditRecord.Actor.client(
            token: connection?.tokenName(of: request), address: connection?.client.description ?? "")
        let isTrial = request.isTrial ?? true
        let isNamedByBody = route == .add || route == .tryOut
        return { [daemon] answer, name in
            let outcome = AuditRecord.Outcome(status: Int(answer.status.code), isTrial: isTrial)
            daemon.audit.note(
                AuditRecord(
                    actor: actor, action: action, camera: camera ?? (isNamedByBody ? name : nil), outcome: outcome))
        }
    }

    func abandon() {
        forget()
        whep?.abandon()
        whep = nil
        switch watching {
        case .nothing: break
        case .snapshot(let hub): hub.remove(self)
        case .stream(let hub):
            hub.remove(self)
            daemon.streams.end()
        case .events:
            daemon.events.remove(self)
            daemon.streams.end()
        case .download(let download):
            download.cancel()
            daemon.streams.end()
        case .fragments(let hub):
            hub.remove(self)
            daemon.streams.end()
            fragments = FragmentQueue()
        case .playlist(let hub): hub.remove(self)
        }
        watching = .nothing
    }

    private static func answer(to failure: ServeRoute.Failure) -> HTTPAnswer {
        switch failure {
        case .unknown:
            return .problem(.notFound, "There is nothing at this address. /v1/openapi.json lists all addresses.")
        case .method(let methods):
            var answer = HTTPAnswer.problem(
                .methodNotAllowed, "This address supports only \(methods.joined(separator: ", ")).")
            answer.headers.add(name: "allow", value: methods.joined(separator: ", "))
            return answer
        }
    }

    /// Returns the reason why a request is not allowed for this client; nil if it is allowed.
    private func refusal(of route: ServeRoute, _ request: HTTPRequest) -> HTTPAnswer? {
        if route.isForOwnPages, request.isCrossSite {
            return .problem(.forbidden, "The request comes from a page of another site.")
        }
        if request.isTrial == nil { return .problem(.badRequest, "dry-run takes true or false.") }
        guard let needed = route.scope else { return nil }
        // If no token is required, all users of this machine are answered, but none of them may change what the daemon
        // runs.
        let granted = connection?.scope(of: request) ?? daemon.scopeWithoutToken
        guard granted < needed else { return limit(of: route) }
        let advice =
            daemon.requiresToken
            ? "The token has the scope \(granted.rawValue), but this needs \(needed.rawValue)."
            : "This needs a token with the scope \(needed.rawValue), and the configuration has none. Add one under server: tokens:."
        return .problem(.forbidden, advice)
    }

    /// Returns the reason why a request is not allowed for this client's cameras; nil if it is allowed. For a hidden
    /// camera the client gets the same answer as for one that does not exist.
    private func limit(of route: ServeRoute) -> HTTPAnswer? {
        if let name = route.camera, !visible.allows(name) { return .noCamera(name) }
        guard route.concernsAll, visible.isLimited else { return nil }
        return .problem(.forbidden, "This request concerns all cameras, but the token is limited to some.")
    }

    private func respond(_ route: ServeRoute, _ request: HTTPRequest) -> HTTPStep {
        switch route {
        case .page:
            var page = HTTPAnswer(type: "text/html; charset=utf-8", body: ServeResponder.page)
            // No page load sends this header. A proxy that adds the token for its users therefore does not give them a
            // cookie.
            let isLogin = request.header("x-inlet-login") != nil
            if let cookie = connection?.cookieHeader(for: request, takesBearer: isLogin) {
                page.headers.add(name: "set-cookie", value: cookie)
            }
            return .answer(page)
        case .document:
            let body = OpenAPIDocument.body(below: request.prefix)
            return .answer(HTTPAnswer(type: "application/json", body: body))
        case .snapshot(let name): return snapshot(of: name, request)
        case .stream(let name): return stream(of: name, request)
        case .events: return streamEvents(request)
        case .fragments(let name): return streamFragments(of: name, request)
        case .playlist(let name): return playlist(of: name, request)
        case .segment(let name, let file): return segment(file, of: name)
        case .recording(let name, let file): return download(file, of: name, request)
        case .recordings(let name): return recordings(of: name, request)
        default:
            let isTrial = request.isTrial ?? true
            let note = auditor(of: route, request)
            return later { [daemon, visible] in
                let answer = await daemon.answer(to: route, isTrial: isTrial, visible: visible)
                note?(answer, nil)
                return answer
            }
        }
    }

    /// Answers when a task has produced the answer.
    func later(_ body: @escaping @Sendable () async -> HTTPAnswer) -> HTTPStep {
        later(body) { service, answer in
            service.abandon()
            service.connection?.answer(answer)
        }
    }

    /// Answers with the reason once it is certain that the camera will not send the awaited media.
    func untilAbsent(_ awaited: AwaitedMedia, from name: String) -> HTTPStep {
        _ = later { [daemon] in await daemon.absence(of: awaited, from: name) }
        return .later(within: Self.cameraLimit, otherwise: .problem(.gatewayTimeout, "The response took too long."))
    }

    /// Continues when a task has a result.
    func later<Value: Sendable>(
        within limit: TimeAmount = answerLimit, _ body: @escaping @Sendable () async -> Value,
        then: @escaping (ServeService, Value) -> Void
    ) -> HTTPStep {
        number += 1
        let asked = number
        let promise = daemon.loop.makePromise(of: Value.self)
        pending = Task { promise.succeed(await body()) }
        promise.futureResult.assumeIsolated().whenSuccess { [weak self] value in
            guard let self, asked == number else { return }
            then(self, value)
        }
        return .later(within: limit, otherwise: .problem(.gatewayTimeout, "The response took too long."))
    }

    /// Discards the deferred answer of a request that is over.
    func forget() {
        number += 1
        pending?.cancel()
        pending = nil
    }

    // MARK: Streams

    private func streamEvents(_ request: HTTPRequest) -> HTTPStep {
        let headers: HTTPHeaders = ["content-type": "text/event-stream"]
        guard request.method == .GET else { return .answer(HTTPAnswer(headers: headers)) }
        guard daemon.streams.begin() else { return .answer(Self.tooMany) }
        watching = .events
        // Events are sent only after the stream has begun.
        daemon.loop.assumeIsolated().execute { [weak self] in
            guard let self, case .events = watching else { return }
            daemon.events.add(self, after: request.header("last-event-id"))
        }
        return .stream(headers)
    }

    static var tooMany: HTTPAnswer {
        var answer = HTTPAnswer.problem(
            .tooManyRequests, "The limit on streams has been reached (server: streams:).")
        answer.headers.add(name: "retry-after", value: "5")
        return answer
    }

    /// Sends the waiting events unless a piece is being sent. Up to a limit, events wait.
    private func send() {
        guard !isSending, backlog.readableBytes > 0 else { return }
        isSending = true
        let piece = backlog
        backlog = ByteBuffer()
        connection?.send([piece])
    }

    func didSend() {
        isSending = false
        switch watching {
        case .events: send()
        case .download(let download): download.next()
        case .fragments: sendFragments()
        default: break
        }
    }
}

extension ServeService: EventHub.Listener {
    /// Events about no particular camera may reveal all cameras.
    func mayHear(of camera: String?) -> Bool { camera.map(visible.allows) ?? !visible.isLimited }

    func tell(_ text: String) {
        guard case .events = watching else { return }
        // A client that is too slow must start again.
        guard backlog.readableBytes + text.utf8.count <= Self.longestBacklog else {
            connection?.endStream()
            return
        }
        backlog.writeString(text)
        send()
    }
}

extension ServeService: PictureViewer {
    var isStream: Bool { if case .stream = watching { true } else { false } }

    private func snapshot(of name: String, _ request: HTTPRequest) -> HTTPStep {
        guard let hub = daemon.view(of: name) else { return .answer(.noCamera(name)) }
        guard request.method == .GET else { return .answer(HTTPAnswer(headers: ["content-type": "image/jpeg"])) }
        watching = .snapshot(hub)
        hub.add(self)
        // Sends the picture or an error with the reason, whichever comes first.
        return untilAbsent(.picture, from: name)
    }

    private func stream(of name: String, _ request: HTTPRequest) -> HTTPStep {
        guard let hub = daemon.view(of: name) else { return .answer(.noCamera(name)) }
        let headers: HTTPHeaders = ["content-type": PictureParts.contentType]
        guard request.method == .GET else { return .answer(HTTPAnswer(headers: headers)) }
        guard daemon.streams.begin() else { return .answer(Self.tooMany) }
        watching = .stream(hub)
        hub.add(self)
        return .stream(headers)
    }

    func show(_ jpeg: ByteBuffer) -> Bool {
        switch watching {
        case .nothing, .events, .download, .fragments, .playlist: return false
        case .snapshot:
            watching = .nothing
            forget()
            connection?.answer(HTTPAnswer(type: "image/jpeg", body: jpeg))
            return false
        case .stream:
            connection?.send(parts.next(jpeg))
            return true
        }
    }

    func end() {
        switch watching {
        case .nothing, .events, .download, .fragments, .playlist: return
        case .snapshot:
            watching = .nothing
            forget()
            connection?.answer(.problem(.notFound, "The camera was removed."))
        case .stream:
            watching = .nothing
            daemon.streams.end()
            connection?.endStream()
        }
    }
}
