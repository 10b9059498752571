import FoundationEssentials
import InletCore
import InletDigest
import InletHTTPServer
import InletRTC
import NIOCore
import NIOHTTP1

/// Answers the request that opens a member's WebSocket. Confined to its channel's thread.
final class RoomService: HTTPService {
    private let hub: RoomHub
    private let hasToken: Bool
    private weak var connection: HTTPConnection?

    init(_ hub: RoomHub, hasToken: Bool, connection: HTTPConnection) {
        self.hub = hub
        self.hasToken = hasToken
        self.connection = connection
    }

    func isPublic(_ request: HTTPRequest) -> Bool { false }
    func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep { begin(request, isKnown: true) }
    func abandon() {}

    func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep {
        guard let client = connection?.client else { return .answer(.text("The connection has ended.", .gone)) }
        guard request.method == .GET, !request.hasBody else {
            return .answer(.text("Open a room with GET and without a body.", .methodNotAllowed))
        }
        guard let room = RoomDirectory.room(inPath: request.path) else {
            return .answer(.text("The path must be the name of a room in visible ASCII: /ROOM?id=NAME.", .notFound))
        }
        guard let key = Self.key(of: request) else {
            // Browsers display the response.
            if let types = request.header("accept"), types.containsBytes("text/html") { return .answer(page(request)) }
            var answer = HTTPAnswer.text("This is a signaling room. Open it as a WebSocket.", .upgradeRequired)
            answer.headers.add(name: "upgrade", value: "websocket")
            answer.headers.add(name: "sec-websocket-version", value: "13")
            return .answer(answer)
        }
        guard hasToken || Self.isOfOneOrigin(request) else {
            return .answer(.text("The page is from another origin. Set a token on the server.", .forbidden))
        }
        let id: PeerID?
        let instance: SignalingInstance
        do throws(InletError) {
            id = try Self.text("id", of: request).map { name throws(InletError) in try PeerID(name) }
            instance =
                try Self.text("instance", of: request)
                .map { secret throws(InletError) in try SignalingInstance(ofMember: secret).shownToMembers }
                ?? SignalingInstance()
        } catch {
            return .answer(.text(error.message, .badRequest))
        }
        guard let member = hub.admit(client, to: room, as: id, instance) else {
            var answer = HTTPAnswer.text("The server has its maximum number of members.", .serviceUnavailable)
            answer.headers.add(name: "retry-after", value: "5")
            return .answer(answer)
        }
        let headers: HTTPHeaders = [
            "upgrade": "websocket", "connection": "upgrade", "sec-websocket-accept": Self.accept(key),
        ]
        return .upgrade(headers) { member.handlers() }
    }

    /// Returns the page with which a browser takes part in a call in the room.
    private func page(_ request: HTTPRequest) -> HTTPAnswer {
        var page = HTTPAnswer(type: "text/html; charset=utf-8", body: Self.page)
        if let cookie = connection?.cookieHeader(for: request) { page.headers.add(name: "set-cookie", value: cookie) }
        return page
    }

    private static let page = ByteBuffer(string: PackageTexts.call_html)

    /// Returns the key of a request that opens a WebSocket (RFC 6455, 4.2.1); nil for any other request.
    private static func key(of request: HTTPRequest) -> String? {
        guard let upgrade = request.header("upgrade"), TextBytes.isSame(upgrade.utf8, ignoringCase: "websocket"),
            let wanted = request.header("connection"),
            wanted.split(atByte: ",").contains(where: { TextBytes.isSame($0.trimmed().utf8, ignoringCase: "upgrade") }),
            let version = request.header("sec-websocket-version"), version.isSameBytes(as: "13"),
            let key = request.header("sec-websocket-key"), key.utf8.count == 24
        else { return nil }
        return key
    }

    /// Returns the proof that a WebSocket was intended (RFC 6455, 4.2.2).
    private static func accept(_ key: String) -> String {
        let digest = MessageDigest.sha1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        return Data(digest).base64EncodedString()
    }

    /// Returns whether the page that opens the WebSocket, if there is one, is from this server. Browsers allow any
    /// page to connect to any server.
    private static func isOfOneOrigin(_ request: HTTPRequest) -> Bool {
        guard let origin = request.header("origin") else { return true }
        guard let host = request.header("host"), let slashes = origin.firstRange(ofBytes: "://") else { return false }
        return origin[slashes.upperBound...].lowercasedASCII.isSameBytes(as: host.lowercasedASCII)
    }

    /// Returns an unescaped item of the query; nil if it is missing.
    private static func text(_ name: String, of request: HTTPRequest) throws(InletError) -> String? {
        guard let bytes = request.queryValue(of: name) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InletError(.invalidConfiguration, "The \(name) is not UTF-8.")
        }
        return text
    }
}
