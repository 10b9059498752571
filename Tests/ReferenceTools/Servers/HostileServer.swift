import Foundation

/// A server that misbehaves on purpose, for RTSP and HTTP.
public final class HostileServer: Sendable {
    /// The kind of misbehavior.
    public enum Kind: String, Sendable, CaseIterable {
        /// Accepts connections but never answers.
        case blackHole = "black-hole"
        /// Accepts connections and closes them.
        case close
        /// Sends a header with endless lines.
        case endlessHeader = "endless-header"
        /// Sends a header with one endless line.
        case endlessLine = "endless-line"
        /// Sends an SDP description or a document of ``HostileServer/Options/bytes``.
        case hugeBody = "huge-body"
        /// States a Content-Length that is 1000 bytes too large.
        case longLength = "long-length"
        /// States a Content-Length that is too small.
        case shortLength = "short-length"
        /// States a Content-Length of -1.
        case negativeLength = "negative-length"
        /// States a Content-Length of 2 GB and sends little.
        case vastLength = "vast-length"
        /// Sends ``HostileServer/Options/bytes`` random bytes at once.
        case random
        /// Answers 401 with a new digest challenge each time.
        case unauthorized = "401"
        /// Answers 401 with a Basic challenge.
        case unauthorizedBasic = "401-basic"
        case forbidden = "403"
        case notFound = "404"
        case sessionNotFound = "454"
        case unavailable = "503"
        /// Sends a correct answer, one byte every ``HostileServer/Options/interval``.
        case slowLoris = "slow-loris"
        /// Speaks correct RTSP up to PLAY, then sends garbage.
        case garbageStream = "garbage-stream"
        /// Sends the first half of ``HostileServer/Options/file`` over HTTP, then garbage.
        case fileThenGarbage = "file-then-garbage"
        /// Redirects endlessly.
        case redirectEndless = "redirect-endless"
        /// Redirects to plain HTTP, which counts the requests.
        case redirectPlain = "redirect-plain"
        /// Redirects to ``HostileServer/Options/file`` on the client's disk.
        case redirectFile = "redirect-file"
        /// Sends a playlist whose segment is ``HostileServer/Options/file`` on the client's disk, or `/etc/passwd`.
        case playlistFile = "playlist-file"
        /// Sends a playlist whose segments are on plain HTTP, which counts the requests.
        case playlistPlain = "playlist-plain"
        /// Sends a playlist that uses `concat:` to upload the content of ``HostileServer/Options/file`` from the
        /// client's disk.
        case playlistConcat = "playlist-concat"
        /// Sends a playlist that refers to itself.
        case playlistSelf = "playlist-self"
        /// Sends a playlist whose only address follows a U+2028 in the line of its tag.
        case playlistSeparator = "playlist-separator"
        /// Sends an endless playlist.
        case playlistEndless = "playlist-endless"
        /// Sends a playlist whose segment, the file, is on another host with a certificate from another authority. TLS
        /// only.
        case playlistElsewhere = "playlist-elsewhere"
        /// Sends a playlist that sets a cookie, and sends segments only with that cookie and the user agent `Viewer/7`.
        case playlistGuarded = "playlist-guarded"
        /// Sends the beginning of a file, and redirects requests for the rest to plain HTTP.
        case redirectSeek = "redirect-seek"
        /// Asks for credentials and redirects to a path that also asks for them. That path redirects to another port,
        /// which asks for credentials as well.
        case redirectGuarded = "redirect-guarded"
        /// Sends a file without its length.
        case chunked
        /// Sends a file that ends in the middle, and the rest if the client requests it.
        case shortBody = "short-body"
        /// Sends at most 100,000 bytes of a file for each request.
        case cappedRange = "capped-range"
        /// Sends a file that ends early. The server refuses the first request for the rest, answers the second with the
        /// whole file, and the third with the rest.
        case failingRest = "failing-rest"
        /// Redirects to a file, with an endless body in the redirect.
        case openRedirect = "open-redirect"
        /// Asks for credentials and accepts none, with an endless body in the answer.
        case openRefusal = "open-refusal"
        /// Sends a playlist with ranges outside the file.
        case playlistRange = "playlist-range"
        /// Sends a file to the user `viewer` with the password `secret`, by Digest.
        case digest
        /// Sends only the file, before any request: for plain TCP.
        case rawFile = "raw-file"
    }

    /// Options of the server.
    public struct Options: Sendable {
        /// The default is ``Kind/blackHole``.
        public var kind = Kind.blackHole
        /// Whether the server uses TLS. The default is false.
        public var isTLS = false
        /// The seed of random bytes. The default is 1.
        public var seed = 1
        /// The size for ``Kind/hugeBody``, ``Kind/random`` and ``Kind/garbageStream``. The default is 100 MB.
        public var bytes = 100_000_000
        /// Seconds between two bytes of ``Kind/slowLoris``. The default is 1.
        public var interval = 1.0
        /// The file for kinds that serve one or refer to one on the client's disk. The default is nil.
        public var file: String?

        /// The default options.
        public init() {}
    }

    /// The process, for its log and for commands without a method here.
    public let process: PeerProcess
    /// The port that it listens on.
    public let port: Int
    /// The certificate of the server's authority, with TLS.
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

    /// Starts a server of a kind with default options.
    public convenience init(_ kind: Kind) throws {
        var options = Options()
        options.kind = kind
        try self.init(options)
    }

    /// Returns a URL on this server.
    public func url(_ scheme: String, _ path: String = "/stream") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    /// Changes the kind of misbehavior for new connections.
    public func change(to kind: Kind) throws { try process.send("set", ["kind": .string(kind.rawValue)]) }

    /// Returns the connections, the bytes sent, the request lines, and the numbers of requests to plain HTTP and to the
    /// other host.
    public func report() throws -> PeerMessage { try process.send("report") }

    /// Ends the server at once.
    public func stop() { process.stop() }
}
