import InletCore
import InletRTSP

// A session with a server that gives any answers.
//
// Input: a byte of flags, then events: a byte that selects the event, and for a response the status and the text of its
// headers up to a NUL. The answers carry the number of the latest request, unless the input sets another one.

private let statuses = [
    200, 200, 200, 200, 301, 302, 400, 401, 401, 403, 404, 405, 451, 453, 454, 455, 457, 460, 461, 500, 501, 503, 551,
    100,
]

private let descriptions = [
    "v=0\nm=audio 0 RTP/AVP 0\na=control:track0\nm=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\na=control:track1",
    "a=control:*\nm=video 4000 RTP/AVPF 26\nc=IN IP4 239.0.0.1/15\na=control:rtsp://cam/b/track1?x=y",
    "m=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=control:/track1",
].map { Array($0.utf8) }

/// The names of all headers that a client of this kind sends.
private let ownHeaders: Set<[UInt8]> = Set(
    [
        "CSeq", "Authorization", "User-Agent", "Session", "Accept", "Transport", "Range", "Public", "Server",
        "Content-Length",
    ].map { Array($0.utf8) })

/// The methods of requests whose answers are not awaited.
private let keepAlives: Set<[UInt8]> = Set(["OPTIONS", "GET_PARAMETER", "SET_PARAMETER"].map { Array($0.utf8) })

private struct Server {
    var session: RTSPSession
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var newest: [UInt8] = []
    var closes = 0
    var failures = 0
    /// Whether the session waits for the caller, which has its own deadlines.
    var waitsForCaller = true
    var isPlaying = false
    /// Whether credentials may be sent: not to a server that another one redirected to.
    var maySendCredentials = true
    /// Whether credentials may be sent in plain text.
    var allowsBasic: Bool
    let configuration: RTSPSessionConfiguration

    init(_ configuration: RTSPSessionConfiguration) {
        self.configuration = configuration
        session = RTSPSession(configuration)
        allowsBasic = configuration.basic == .allowed || configuration.url.isSecure
    }

    mutating func handle(_ event: RTSPSession.Event) {
        let wasClosed = session.isClosed
        let actions = session.handle(event, at: now)
        demand(actions.isEmpty || !wasClosed, "acts after its end")
        demand(actions.count <= 8, "\(actions.count) actions at once")
        for action in actions {
            demand(closes == 0, "acts after it closed the connection")
            switch action {
            case .send(let bytes): check(sent: bytes)
            case .openPorts: waitsForCaller = true
            case .reconnect(let url):
                demand(url.credentials == nil, "credentials in an address to connect to")
                demand(url.isSecure || !configuration.url.isSecure, "continues without encryption")
                (waitsForCaller, isPlaying) = (true, false)
                if !url.hasSameOrigin(as: configuration.url), configuration.redirectCredentials == .sameOrigin {
                    maySendCredentials = false
                }
                allowsBasic = configuration.basic == .allowed || url.isSecure
            case .playing, .paused, .pauseRefused: isPlaying = true
            case .fail(let error):
                failures += 1
                demand(!Array("\(error)".utf8).holds("fuzz-pass-5Q"), "the password in an error")
            case .close: closes += 1
            case .established(let established): demand(established.channels.count <= 2, "more than two channels")
            case .closePorts: break
            }
            _ = action.description
        }
        demand(failures <= 1, "fails twice")
        demand(session.isClosed == (closes == 1), "closed without reporting it")
        demand(!Array(session.description.utf8).holds("fuzz-pass-5Q"), "the password in a description")
        let hasDeadline = session.deadline < .distantFuture
        let mayWait = session.isClosed || session.isSuspended || waitsForCaller || isPlaying
        demand(hasDeadline || mayWait, "waits without a deadline")
    }

    /// Checks that a request is exactly one message, and contains nothing that the server invented.
    private mutating func check(sent bytes: [UInt8]) {
        demand(bytes.count <= 300_000, "sends \(bytes.count) bytes")
        demand(!bytes.holds("fuzz-pass-5Q"), "sends the password in plain text")
        var settings = RTSPParser.Settings()
        settings.longestHead = 300_000
        var parser = RTSPParser(settings: settings)
        guard let (event, consumed) = try? unsafe parser.next(bytes.span.bytes), consumed == bytes.count else {
            return demand(false, "sends a malformed message: \(String(decoding: bytes, as: UTF8.self))")
        }
        switch event {
        case .request(let request):
            waitsForCaller = false
            isPlaying = isPlaying && keepAlives.contains(request.method)
            newest = request.headers.first("CSeq") ?? []
            if let authorization = request.headers.first("Authorization") {
                demand(maySendCredentials, "sends credentials to another host")
                let isBasic = authorization.starts(with: "Basic ".utf8)
                demand(allowsBasic || !isBasic, "sends the password without encryption")
            }
            check(request.headers)
        case .response(let response): check(response.headers)
        default: demand(false, "sends a malformed message: \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private func check(_ headers: RTSPHeaders) {
        for field in headers.fields {
            demand(ownHeaders.contains(field.name), "sends a header \(String(decoding: field.name, as: UTF8.self))")
        }
        demand(headers.values("CSeq").count <= 1 && headers.values("Session").count <= 1, "sends a header twice")
    }

    mutating func respond(_ input: inout FuzzInput, hasNumber: Bool) {
        let selection = input.byte()
        let status = statuses[Int(selection) % statuses.count]
        let text = Array("RTSP/1.0 \(status) x\r\n".utf8) + input.text() + [13, 10, 13, 10]
        var parser = RTSPParser()
        guard let (event, _) = try? unsafe parser.next(text.span.bytes), case .response(var response) = event else {
            return
        }
        if hasNumber, response.headers.first("CSeq") == nil { response.headers.append("CSeq", newest) }
        if response.body.isEmpty { response.body = descriptions[Int(selection >> 5) % descriptions.count] }
        handle(.response(response))
    }

    mutating func request(_ input: inout FuzzInput) {
        let text = input.text() + [13, 10, 13, 10]
        var parser = RTSPParser()
        guard let (event, _) = try? unsafe parser.next(text.span.bytes), case .request(let request) = event else {
            return
        }
        handle(.request(request))
    }

    /// Lets time pass up to the deadline. A deadline that was handled must not be set to the same time again.
    mutating func waitForDeadline() {
        guard session.deadline < .distantFuture else { return }
        now = max(now, session.deadline)
        var turns = 0
        while session.deadline <= now, !session.isClosed {
            handle(.timer)
            turns += 1
            demand(turns <= 3, "the deadline does not advance")
        }
    }
}

private func configuration(_ flags: UInt8) -> RTSPSessionConfiguration? {
    let text = flags & 1 == 0 ? "rtsp://user:fuzz-pass-5Q@cam/live" : "rtsps://user:fuzz-pass-5Q@cam:8554/live?a=b"
    guard let url = try? RTSPURL(Array(text.utf8)) else { return nil }
    var configuration = RTSPSessionConfiguration(url: url)
    configuration.clientNonce = Array("0a4f113b".utf8)
    configuration.transports = [[.tcp], [.udp, .tcp], [.udp, .multicast, .tcp], [.multicast]][Int(flags >> 1 & 3)]
    if flags & 8 != 0 { configuration.redirectCredentials = .anyHost }
    if flags & 16 != 0 { configuration.video = .at(1) }
    if flags & 32 != 0 { configuration.basic = .encryptedOnly }
    return configuration
}

/// Plays one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzSession(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    guard let configuration = configuration(input.byte()) else { return 0 }
    var server = Server(configuration)
    while !input.isAtEnd, !server.session.isClosed {
        let code = input.byte()
        switch code & 15 {
        case 0: server.handle(.connected)
        case 1: server.handle(.portsOpened(.init(5000, 5001)))
        case 2: server.handle(.portsUnavailable(InletError(.unsupported, "No ports.")))
        case 3: server.waitForDeadline()
        case 4: server.handle(.transportSilent)
        case 5: server.handle(code & 16 == 0 ? .pause : .resume)
        case 6: server.handle(.mediaArrived)
        case 7: server.request(&input)
        case 8: server.now = server.now + .milliseconds(Int(input.byte()) * Int(input.byte()))
        case 9 where code & 16 != 0: server.handle(.close)
        case 10 where code & 16 != 0: server.handle(.disconnected)
        case 10: server.handle(.streamLost(since: server.now))
        case 11: server.handle(.timer)
        case 12: server.respond(&input, hasNumber: false)
        default: server.respond(&input, hasNumber: true)
        }
    }
    // After any events, a close request ends the session within the time of two answers.
    server.handle(.close)
    server.waitForDeadline()
    demand(server.session.isClosed && server.closes == 1, "does not end")
    return 0
}
