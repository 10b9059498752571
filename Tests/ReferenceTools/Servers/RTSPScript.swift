import Foundation

/// An RTSP server that sends a raw H.264 file over TCP or UDP, with faults that cameras have. Each fault has a name.
public final class RTSPScript: Sendable {
    /// The faults.
    public enum Mutation: String, Sendable, CaseIterable {
        /// The marker is never set.
        case markerNever = "marker-never"
        /// The marker is set on every slice.
        case markerSlices = "marker-slices"
        /// The marker is set on parameter sets.
        case markerParameters = "marker-parameters"
        /// Parameter sets have the timestamp of the previous picture.
        case parametersPreviousTime = "parameters-previous-time"
        /// No fragment has the end bit.
        case fragmentsWithoutEnd = "fu-no-end"
        /// Small slices are fragments with both bits set.
        case fragmentsWithBothEnds = "fu-both"
        /// The units of a picture are a single fragmented unit with start codes inside.
        case annexBInFragment = "annexb-in-fu"
        /// RTP comes on the odd channel, and RTCP on the even one.
        case swappedChannels = "swapped-channels"
        /// The reply to SETUP names channels that differ from the requested ones.
        case renumbered
        /// Each packet is followed by a packet of payload type 50 with the same sequence number.
        case foreignType = "foreign-type"
        /// Five packets of another session come before each picture.
        case foreignSSRC = "foreign-ssrc"
        /// 100 bytes of every tenth picture are missing in mid-frame; TCP only.
        case cutBytes = "cut-bytes"
        /// Replies without CSeq come between the frames; TCP only.
        case strayReplies = "stray-replies"
        /// The first picture comes before the reply to PLAY.
        case earlyPicture = "early-picture"
        /// The control connection is written byte by byte.
        case oneByte = "one-byte"
        /// Packets are lost; UDP only.
        case loss
        /// Packets come twice; UDP only.
        case duplicate
        /// Packets come after later ones; UDP only.
        case reorder
        /// The timestamp of the tenth picture is 10,000 s ahead.
        case timeOnce = "time-once"
        /// From the tenth picture on, all timestamps are 10,000 s ahead.
        case timeJump = "time-jump"
        /// The sequence numbers begin shortly before their wrap.
        case sequenceWrap = "sequence-wrap"
        /// The timestamps begin a second before their wrap.
        case timeWrap = "time-wrap"
        /// Packets have padding.
        case padding
        /// Packets have three contributing sources.
        case csrc
        /// Packets have the header extension of ONVIF's replay.
        case extensionReplay = "extension-replay"
        /// Packets have a header extension with the number 0xFFD8.
        case extensionJPEG = "extension-jpeg"
        /// A connection is closed without an answer if its first request is not OPTIONS.
        case optionsFirst = "options-first"
        /// Sender reports are of another source.
        case reportForeign = "report-foreign"
        /// Sender reports use a clock that was never set. They state the time since 1970.
        case reportUnset = "report-unset"
    }

    /// The server's authentication.
    public enum Authentication: String, Sendable, CaseIterable {
        case none, basic, md5, sha256, several
        /// Offers Digest with SHA-256 and MD5, but accepts only MD5.
        case md5OfTwo = "md5-of-two"
    }
    /// The state of a connection after refused credentials.
    public enum RefusalEnd: String, Sendable, CaseIterable {
        case stays = ""
        case close, reset
    }
    /// The accepted transports; other requests get 461.
    public enum Transport: String, Sendable, CaseIterable { case tcp, udp, all }

    /// The ways in which the server ends a session.
    public enum End: String, Sendable, CaseIterable {
        /// It closes the connection.
        case close
        /// It resets the connection.
        case reset
        /// It sends RTCP BYE, then stops sending. Later requests in the session get 454.
        case bye
        /// Like ``bye``, without the sender report that normally precedes it.
        case loneBye = "lone-bye"
        /// It stops sending. Later requests in the session get 454.
        case silence
    }

    /// Options of the server.
    public struct Options: Sendable {
        /// The raw H.264 file, sent repeatedly.
        public var file: String
        /// The faults. The default is an empty list.
        public var mutations: [Mutation] = []
        /// The accepted transports. The default is ``Transport/all``.
        public var transport = Transport.all
        /// Whether the server sends pictures only by ``RTSPScript/next(_:)``. The default is false.
        public var isWithholding = false
        /// Pictures per second. The default is 50.
        public var frameRate = 50
        /// The number of pictures, after which the connection stays open. The default, 0, is unlimited.
        public var pictures = 0
        /// The size of a payload in bytes. The default is 1200.
        public var payload = 1200
        /// The percentage of datagrams that such a fault loses, duplicates or reorders. The default is 5.
        public var percent = 5
        /// The seed of the faults on datagrams. The default is 1.
        public var seed = 1
        /// The authentication. The default is ``Authentication/none``.
        public var authentication = Authentication.none
        /// The state of a connection after refused credentials. The default is ``RefusalEnd/stays``.
        public var refusalEnd = RefusalEnd.stays
        /// Whether all challenges are in one header. The default is false.
        public var hasOneChallengeLine = false
        /// The number of requests after which a nonce expires. The default, 0, is never.
        public var requestsPerNonce = 0
        /// The user, with ``authentication``.
        public var user = "camera"
        /// The password, with ``authentication``.
        public var password = "secret"
        /// The address to which the server redirects DESCRIBE. A word without `://` is a path of the server itself. The
        /// default, empty, means no redirect.
        public var redirect = ""
        /// The statuses that refuse methods, such as `DESCRIBE=503:2` for the first two requests.
        public var refusals: [String] = []
        /// Delays of the answers to methods in seconds, such as `PLAY=1.5`.
        public var delays: [String] = []
        /// Whether the server runs in a separate network, linked with its clients' network, ``RTSPScript/clients``.
        /// Needs ``NetworkNamespace/isAvailable``. The default is false.
        public var isIsolated = false
        /// The methods in the answer to OPTIONS; nil for all methods of the server.
        public var publicMethods: String?
        /// The number of seconds without a sign of life after which a session ends. The default is 60.
        public var sessionTimeout = 60
        /// The methods, or RTCP, that count as a sign of life, such as `OPTIONS,RTCP`. The default is empty: a session
        /// never ends.
        public var signsOfLife = ""
        /// Whether the description contains the parameter sets. The default is true.
        public var describesParameters = true
        /// The way in which a session ends without a sign of life. The default is ``End/close``.
        public var end = End.close
        /// The address to which a request of the server redirects the client after five pictures. The default is empty:
        /// no redirect.
        public var laterRedirect = ""
        /// The file for the second connection and later ones; nil for the file of the first.
        public var laterFile: String?
        /// The format name in the description for the second connection and later ones. The default is H264.
        public var laterCodec = "H264"
        /// Whether the server accepts multicast without sending by it. The default is false.
        public var isMulticastMute = false

        /// The default options for a file.
        public init(file: String) { self.file = file }

        var arguments: [String] {
            var list = [
                "--file", file, "--transport", transport.rawValue, "--fps", "\(frameRate)", "--pictures",
                "\(pictures)", "--mtu", "\(payload)", "--percent", "\(percent)", "--seed", "\(seed)", "--auth",
                authentication.rawValue, "--nonce-every", "\(requestsPerNonce)", "--user=\(user)",
                "--password=\(password)", "--redirect=\(redirect)", "--session-timeout", "\(sessionTimeout)",
                "--alive-by=\(signsOfLife)", "--end-refused=\(refusalEnd.rawValue)",
            ]
            for mutation in mutations { list += ["--mutation", mutation.rawValue] }
            for refusal in refusals { list += ["--status", refusal] }
            for delay in delays { list += ["--delay", delay] }
            if isIsolated { list.append("--isolated") }
            if isWithholding { list.append("--withhold") }
            if hasOneChallengeLine { list.append("--auth-one-line") }
            if !describesParameters { list.append("--no-parameters") }
            list += ["--end-by", end.rawValue, "--redirect-later=\(laterRedirect)", "--later-codec", laterCodec]
            if let laterFile { list += ["--later-file", laterFile] }
            if isMulticastMute { list.append("--mute-multicast") }
            if let publicMethods { list.append("--public=\(publicMethods)") }
            return list
        }
    }

    /// A request that the server received.
    public struct Request: Sendable {
        /// The number of the connection, from 1.
        public var connection: Int
        /// The method.
        public var method: String
        /// The address as written.
        public var url: String
        /// The headers, with lowercase names.
        public var headers: [String: String]
    }

    /// The process, for its log and for commands without a method here.
    public let process: PeerProcess
    /// The URL without credentials.
    public let url: String
    /// The port that it listens on.
    public let port: Int
    /// The clients' network if the server is isolated. There the link to the server is called `client`, and the server
    /// has the addresses 10.77.0.1 and fe80::77:1.
    public let clients: NetworkNamespace?
    /// The number of pictures in the file.
    public let pictures: Int

    /// Starts a server and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options) throws {
        process = try PeerProcess("rtsp-script.py", options.arguments)
        url = process.ready["url"]?.text ?? ""
        port = process.ready["port"]?.int ?? 0
        pictures = process.ready["pictures"]?.int ?? 0
        clients = process.ready["clients"]?.int.map { NetworkNamespace(of: $0) }
    }

    /// Sends more pictures if the server waits for this call.
    public func next(_ count: Int = 1) throws { try process.send("next", ["count": .number(Double(count))]) }

    /// Ends all sessions.
    public func end(_ way: End) throws { try process.send("end", ["by": .string(way.rawValue)]) }

    /// The requests so far.
    public var requests: [Request] {
        events("request").map { event in
            var headers: [String: String] = [:]
            if case .object(let members) = event["headers"] { headers = members.mapValues(\.text) }
            return Request(
                connection: event["connection"]?.int ?? 0, method: event["method"]?.text ?? "",
                url: event["url"]?.text ?? "", headers: headers)
        }
    }

    /// The methods of the requests so far.
    public var methods: [String] { requests.map(\.method) }

    /// The statuses of the client's answers to requests.
    public var answers: [Int] { events("answer").compactMap { $0["status"]?.int } }

    /// The numbers of the completely sent pictures so far.
    public var sent: [Int] { events("sent").compactMap { $0["picture"]?.int } }

    /// The client's RTCP packets and empty RTP packets, in hexadecimal digits.
    public var controlPackets: [String] { events("rtcp").compactMap { $0["hex"]?.text } }

    /// The numbers of accepted and of ended connections.
    public var connections: (accepted: Int, ended: Int) { (events("connected").count, events("closed").count) }

    /// Whether a session has ended for lack of a sign of life.
    public var hasExpired: Bool { !events("expired").isEmpty }

    /// Returns the events of a kind. They include all that precede an answer the client has received.
    private func events(_ name: String) -> [PeerMessage] {
        if process.isRunning { _ = try? process.send("report") }
        return process.events.filter { $0["event"] == .string(name) }
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}
