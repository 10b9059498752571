import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

/// Answers the requests of one connection. Confined to its channel's thread.
final class PreviewService: HTTPService, PictureViewer {
    private let configuration: PreviewSinkConfiguration
    private let pages: PreviewPages
    private let hub: PictureHub
    private weak var connection: HTTPConnection?
    private var watching = Watching.nothing
    private var parts = PictureParts()

    private enum Watching { case nothing, snapshot, stream }

    init(
        _ configuration: PreviewSinkConfiguration, pages: PreviewPages, hub: PictureHub, connection: HTTPConnection
    ) {
        self.configuration = configuration
        self.pages = pages
        self.hub = hub
        self.connection = connection
    }

    func isPublic(_ request: HTTPRequest) -> Bool { false }

    func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep {
        guard !request.hasBody else { return .answer(.text("A request body is not accepted.", .payloadTooLarge)) }
        guard request.method == .GET || request.method == .HEAD else {
            return .answer(.text("Only GET and HEAD are supported.", .methodNotAllowed))
        }
        switch pages.answer(to: request, cookie: connection?.cookieHeader(for: request)) {
        case .page(let answer): return .answer(answer)
        case .snapshot where request.method == .GET:
            watch(.snapshot)
            // A stalled source delivers no picture.
            return .later(
                within: TimeAmount(configuration.patience),
                otherwise: .text("No picture is available now.", .serviceUnavailable))
        case .stream where request.method == .GET:
            guard hub.streams < configuration.clients else {
                var answer = HTTPAnswer.text("The maximum number of streams is reached.", .serviceUnavailable)
                answer.headers.add(name: "retry-after", value: "5")
                return .answer(answer)
            }
            watch(.stream)
            return .stream(["content-type": PictureParts.contentType])
        case .snapshot, .stream: return .answer(HTTPAnswer(type: "image/jpeg", body: ByteBuffer()))
        }
    }

    func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep { begin(request, isKnown: true) }

    func abandon() {
        guard watching != .nothing else { return }
        watching = .nothing
        hub.remove(self)
    }

    // MARK: Pictures

    var isStream: Bool { watching == .stream }

    func end() { watching = .nothing }

    private func watch(_ what: Watching) {
        watching = what
        hub.add(self)
    }

    func show(_ jpeg: ByteBuffer) -> Bool {
        switch watching {
        case .nothing: return false
        case .snapshot:
            watching = .nothing
            connection?.answer(HTTPAnswer(type: "image/jpeg", body: jpeg))
            return false
        case .stream:
            connection?.send(parts.next(jpeg))
            return true
        }
    }
}
