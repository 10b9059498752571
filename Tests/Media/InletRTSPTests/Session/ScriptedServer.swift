import InletCore
import InletRTSP

/// Drives a session against a scripted server, and records events as short lines of text.
struct ScriptedServer {
    var session: RTSPSession
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// The session's actions since the last read: requests as `METHOD uri`, everything else by name.
    private(set) var log: [String] = []
    /// The requests that the session sent, complete.
    private(set) var requests: [RTSPRequest] = []
    private(set) var established: RTSPSession.Established?
    private(set) var playing: RTSPSession.Playing?
    private(set) var failure: InletError?

    init(
        _ url: String = "rtsp://cam/live", _ change: (inout RTSPSessionConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = RTSPSessionConfiguration(url: try RTSPURL(Array(url.utf8)))
        configuration.clientNonce = Array("0a4f113b".utf8)
        change(&configuration)
        session = RTSPSession(configuration)
    }

    mutating func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    mutating func handle(_ event: RTSPSession.Event) { note(session.handle(event, at: now)) }

    /// Lets time pass up to the session's deadline.
    mutating func waitForDeadline() {
        now = max(now, session.deadline)
        handle(.timer)
    }

    /// The server answers the newest request, with its number.
    mutating func reply(_ status: Int, _ headers: [(String, String)] = [], body: String = "") {
        reply(to: requests.last, status, headers, body: body)
    }

    mutating func reply(
        to request: RTSPRequest?, _ status: Int, _ headers: [(String, String)] = [], body: String = ""
    ) {
        var all = RTSPHeaders(headers.map { (name: $0.0, value: $0.1) })
        if let number = request?.headers.first("CSeq") { all.append("CSeq", number) }
        handle(.response(RTSPResponse(status: status, reason: [], headers: all, body: Array(body.utf8))))
    }

    /// The server does its part up to the answer to PLAY.
    mutating func play(sessionHeader: String = "12345678", transport: String = "RTP/AVP/TCP;interleaved=0-1") {
        handle(.connected)
        reply(200, body: Self.sdp)
        reply(200, [("Session", sessionHeader), ("Transport", transport)])
        reply(200)
    }

    static let sdp = """
        v=0
        m=audio 0 RTP/AVP 0
        a=control:track0
        m=video 0 RTP/AVP 96
        a=rtpmap:96 H264/90000
        a=control:track1
        """

    /// The header of the newest request as text.
    func header(_ name: StaticString) -> String? { requests.last?.headers.text(name) }

    private mutating func note(_ actions: [RTSPSession.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes): note(sent: bytes)
            case .openPorts: log.append("openPorts")
            case .closePorts: log.append("closePorts")
            case .established(let value):
                established = value
                log.append("established")
            case .playing(let value):
                playing = value
                log.append("playing")
            case .paused: log.append("paused")
            case .pauseRefused: log.append("pauseRefused")
            case .reconnect(let url): log.append("reconnect \(String(decoding: url.requestURI, as: UTF8.self))")
            case .fail(let error):
                failure = error
                log.append("fail \(error.code)")
            case .close: log.append("close")
            }
        }
    }

    private mutating func note(sent bytes: [UInt8]) {
        for item in ParserRun(bytes).items {
            switch item {
            case .request(let request):
                requests.append(request)
                log.append(
                    "\(String(decoding: request.method, as: UTF8.self)) \(String(decoding: request.uri, as: UTF8.self))"
                )
            case .response(let response): log.append("reply \(response.status)")
            default: log.append("nonsense")
            }
        }
    }
}
