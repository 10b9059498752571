import Foundation

/// An RTSP server that sends a raw H.264 file over TCP or UDP and does odd things as cameras do, each by its name.
public final class RTSPScript: Sendable {
    /// What is odd.
    public enum Mutation: String, Sendable, CaseIterable {
        /// The marker is never set.
        case markerNever = "marker-never"
        /// The marker is set on every slice.
        case markerSlices = "marker-slices"
        /// The marker is set on parameter sets.
        case markerParameters = "marker-parameters"
        /// Parameter sets have the timestamp of the picture before.
        case parametersPreviousTime = "parameters-previous-time"
        /// No fragment has the end bit.
        case fragmentsWithoutEnd = "fu-no-end"
        /// Small slices are fragments with both bits set.
        case fragmentsWithBothEnds = "fu-both"
        /// The units of a picture are one fragmented unit with start codes inside.
        case annexBInFragment = "annexb-in-fu"
        /// RTP comes on the odd channel, RTCP on the even one.
        case swappedChannels = "swapped-channels"
        /// The reply to SETUP names other channels than were asked for.
        case renumbered
        /// Each packet is followed by one of payload type 50 with the same sequence number.
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
        /// Packets come after their followers; UDP only.
        case reorder
        /// The tenth picture is stamped 10,000 s ahead.
        case timeOnce = "time-once"
        /// From the tenth picture on all are stamped 10,000 s ahead.
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
        /// A connection whose first request is not OPTIONS is closed without an answer.
        case optionsFirst = "options-first"
        /// Sender reports are of another source.
        case reportForeign = "report-foreign"
        /// Sender reports state the time since 1970 of a clock that was never set.
        case reportUnset = "report-unset"
    }

    /// How the server asks who is there.
    public enum Authentication: String, Sendable, CaseIterable {
        case none, basic, md5, sha256, several
        /// Offers Digest with SHA-256 and MD5, and accepts MD5 alone.
        case md5OfTwo = "md5-of-two"
    }
    /// How a connection ends after credentials were refused.
    public enum RefusalEnd: String, Sendable, CaseIterable {
        case stays = ""
        case close, reset
    }
    /// What the server agrees to; 461 answers the other.
    public enum Transport: String, Sendable, CaseIterable { case tcp, udp, all }

    /// How the server ends a session of its own accord.
    public enum End: String, Sendable, CaseIterable {
        /// It closes the connection.
        case close
        /// It resets the connection.
        case reset
        /// It sends RTCP BYE, then nothing. What names the session gets 454.
        case bye
        /// As ``bye``, without the report that belongs before it.
        case loneBye = "lone-bye"
        /// It sends nothing any more. What names the session gets 454.
        case silence
    }

    /// What the server is started with.
    public struct Options: Sendable {
        /// The raw H.264 file to send over and over.
        public var file: String
        /// What is odd. The default is nothing.
        public var mutations: [Mutation] = []
        /// The default is ``Transport/all``.
        public var transport = Transport.all
        /// Whether a picture is sent only with ``RTSPScript/next(_:)``. The default is false.
        public var isWithholding = false
        /// Pictures per second. The default is 50.
        public var frameRate = 50
        /// How many pictures are sent; the connection stays open behind them. The default, 0, is no limit.
        public var pictures = 0
        /// Bytes of a payload. The default is 1200.
        public var payload = 1200
        /// How many of a hundred datagrams are lost, doubled or exchanged by such a mutation. The default is 5.
        public var percent = 5
        /// The seed of what happens to datagrams. The default is 1.
        public var seed = 1
        /// The default is ``Authentication/none``.
        public var authentication = Authentication.none
        /// The default is ``RefusalEnd/stays``.
        public var refusalEnd = RefusalEnd.stays
        /// Whether all challenges stand in one header. The default is false.
        public var hasOneChallengeLine = false
        /// The number of requests after which a nonce is refused. The default, 0, is never.
        public var requestsPerNonce = 0
        /// The user, with ``authentication``.
        public var user = "camera"
        /// The password, with ``authentication``.
        public var password = "secret"
        /// The address to which DESCRIBE is redirected; any word without `://` stands for a path of the server itself.
        /// The default, empty, redirects nowhere.
        public var redirect = ""
        /// The statuses with which methods are refused, such as `DESCRIBE=503:2` for the first two times.
        public var refusals: [String] = []
        /// How many seconds later than others a method is answered, such as `PLAY=1.5`.
        public var delays: [String] = []
        /// Whether the server is in a network of its own, linked with the one of its clients, ``RTSPScript/clients``.
        /// Needs ``NetworkNamespace/isAvailable``. The default is false.
        public var isIsolated = false
        /// The answer to OPTIONS; nil is all that the server knows.
        public var publicMethods: String?
        /// Seconds without a sign of life until a session ends. The default is 60.
        public var sessionTimeout = 60
        /// The methods, or RTCP, that count as a sign of life, such as `OPTIONS,RTCP`. Without any, which is the
        /// default, a session never ends.
        public var signsOfLife = ""
        /// Whether the description has the parameter sets. The default is true.
        public var describesParameters = true
        /// How a session ends without a sign of life. The default is ``End/close``.
        public var end = End.close
        /// Where the client is led to by a request after five pictures. The default, empty, is nowhere.
        public var laterRedirect = ""
        /// The file of the second connection and those behind it; nil is that of the first.
        public var laterFile: String?
        /// The name of the format that the second connection and those behind it describe. The default is H264.
        public var laterCodec = "H264"
        /// Whether multicast is accepted, and nothing sent by it. The default is false.
        public var isMulticastMute = false

        /// The defaults for a file.
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

    /// A request that the server has read.
    public struct Request: Sendable {
        /// The number of the connection, from 1.
        public var connection: Int
        /// The method.
        public var method: String
        /// The address, as it was written.
        public var url: String
        /// The headers, with their names in lower case.
        public var headers: [String: String]
    }

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The URL without credentials.
    public let url: String
    /// The port that it listens on.
    public let port: Int
    /// The network of the clients, where the server is isolated. There the link to the server is called `client`, and
    /// the server has the addresses 10.77.0.1 and fe80::77:1.
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

    /// Sends more pictures, of a server that withholds them.
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

    /// The statuses that the client has answered requests with.
    public var answers: [Int] { events("answer").compactMap { $0["status"]?.int } }

    /// The pictures that were sent so far, each with its last byte, by their numbers.
    public var sent: [Int] { events("sent").compactMap { $0["picture"]?.int } }

    /// The RTCP and empty RTP packets that came from the client, in hexadecimal digits.
    public var controlPackets: [String] { events("rtcp").compactMap { $0["hex"]?.text } }

    /// The number of connections that were accepted, and of those that have ended.
    public var connections: (accepted: Int, ended: Int) { (events("connected").count, events("closed").count) }

    /// Whether a session has ended because no sign of life came.
    public var hasExpired: Bool { !events("expired").isEmpty }

    /// The events of a kind. What the client had an answer to is among them.
    private func events(_ name: String) -> [PeerMessage] {
        if process.isRunning { _ = try? process.send("report") }
        return process.events.filter { $0["event"] == .string(name) }
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}
