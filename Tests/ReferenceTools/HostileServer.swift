import Foundation

/// A server that misbehaves on purpose, for RTSP and HTTP alike.
public final class HostileServer: Sendable {
    /// How it misbehaves.
    public enum Kind: String, Sendable, CaseIterable {
        /// Accepts and never answers.
        case blackHole = "black-hole"
        /// Accepts and closes.
        case close
        /// A header without end, of lines.
        case endlessHeader = "endless-header"
        /// A header without end, of one line.
        case endlessLine = "endless-line"
        /// An SDP, or a document, of ``HostileServer/Options/bytes``.
        case hugeBody = "huge-body"
        /// A Content-Length of 1000 bytes more than come.
        case longLength = "long-length"
        /// A Content-Length of fewer bytes than come.
        case shortLength = "short-length"
        /// A Content-Length of -1.
        case negativeLength = "negative-length"
        /// A Content-Length of 2 GB, and little behind it.
        case vastLength = "vast-length"
        /// Random bytes at once, ``HostileServer/Options/bytes`` of them.
        case random
        /// 401 with a new digest challenge each time.
        case unauthorized = "401"
        /// 401 that asks for a basic password.
        case unauthorizedBasic = "401-basic"
        case forbidden = "403"
        case notFound = "404"
        case sessionNotFound = "454"
        case unavailable = "503"
        /// A proper answer, a byte every ``HostileServer/Options/interval``.
        case slowLoris = "slow-loris"
        /// RTSP as it should be up to PLAY, then garbage.
        case garbageStream = "garbage-stream"
        /// The first half of ``HostileServer/Options/file`` over HTTP, then garbage.
        case fileThenGarbage = "file-then-garbage"
        /// Redirects for ever.
        case redirectEndless = "redirect-endless"
        /// Redirects to plain HTTP, which counts who comes.
        case redirectPlain = "redirect-plain"
        /// Redirects to ``HostileServer/Options/file`` on the client's disk.
        case redirectFile = "redirect-file"
        /// A playlist whose segment is ``HostileServer/Options/file`` on the client's disk, or `/etc/passwd`.
        case playlistFile = "playlist-file"
        /// A playlist whose segments are on plain HTTP, which counts who comes.
        case playlistPlain = "playlist-plain"
        /// A playlist that has `concat:` send on what ``HostileServer/Options/file`` on the client's disk holds.
        case playlistConcat = "playlist-concat"
        /// A playlist that leads to itself.
        case playlistSelf = "playlist-self"
        /// A playlist whose only address stands behind a U+2028 in the line of its tag.
        case playlistSeparator = "playlist-separator"
        /// A playlist without end.
        case playlistEndless = "playlist-endless"
        /// A playlist whose segment, the file, is on another host, with a certificate by another authority. With TLS
        /// only.
        case playlistElsewhere = "playlist-elsewhere"
        /// A playlist that hands out a cookie, and segments only for who brings it and is the agent `Viewer/7`.
        case playlistGuarded = "playlist-guarded"
        /// A file whose beginning comes from here; a request for what lies behind it is redirected to plain HTTP.
        case redirectSeek = "redirect-seek"
        /// Wants credentials and leads to a path that wants them, too, from which it leads to another port that asks
        /// for them.
        case redirectGuarded = "redirect-guarded"
        /// A file whose length is not told.
        case chunked
        /// A file that breaks off in the middle, and the rest of it for whoever asks for that.
        case shortBody = "short-body"
        /// A file of which each request gets at most 100,000 bytes.
        case cappedRange = "capped-range"
        /// A file that breaks off; the rest is refused once, then the whole comes instead, and then the rest.
        case failingRest = "failing-rest"
        /// A file behind a redirect whose body never ends.
        case openRedirect = "open-redirect"
        /// Wants credentials and takes none, in an answer whose body never ends.
        case openRefusal = "open-refusal"
        /// A playlist with ranges that no file has.
        case playlistRange = "playlist-range"
        /// A file for `viewer` with the password `secret`, by Digest.
        case digest
        /// The file alone, before anything is asked: for plain TCP.
        case rawFile = "raw-file"
    }

    /// What the server is started with.
    public struct Options: Sendable {
        /// The default is ``Kind/blackHole``.
        public var kind = Kind.blackHole
        /// Whether it speaks TLS. The default is false.
        public var isTLS = false
        /// Of random bytes. The default is 1.
        public var seed = 1
        /// Of ``Kind/hugeBody``, ``Kind/random`` and ``Kind/garbageStream``. The default is 100 MB.
        public var bytes = 100_000_000
        /// Seconds between two bytes of ``Kind/slowLoris``. The default is 1.
        public var interval = 1.0
        /// Of the kinds that serve one, or name one on the client's disk. The default is nil.
        public var file: String?

        /// The defaults.
        public init() {}
    }

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The certificate of the authority that vouches for the server, with TLS.
    public let authority: String?

    /// Starts a server and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options) throws {
        var arguments = [
            "--kind", options.kind.rawValue, "--seed", "\(options.seed)", "--bytes", "\(options.bytes)",
            "--interval", "\(options.interval)",
        ]
        if options.isTLS { arguments.append("--tls") }
        if let file = options.file { arguments += ["--file", file] }
        process = try PeerProcess("hostile-server.py", arguments)
        port = process.ready["port"]?.int ?? 0
        authority = process.ready["ca"]?.text
    }

    /// A server of a kind with the other defaults.
    public convenience init(_ kind: Kind) throws {
        var options = Options()
        options.kind = kind
        try self.init(options)
    }

    /// A URL on this server.
    public func url(_ scheme: String, _ path: String = "/stream") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    /// Misbehaves otherwise from the next connection on.
    public func change(to kind: Kind) throws { try process.send("set", ["kind": .string(kind.rawValue)]) }

    /// Connections, bytes sent, the request lines, and how many came to plain HTTP and elsewhere.
    public func report() throws -> PeerMessage { try process.send("report") }

    /// Ends the server at once.
    public func stop() { process.stop() }
}
