import Foundation

/// Motion JPEG and still pictures of nonstandard cameras, over HTTP or plain TCP. Each connection gets the same
/// pictures, starting with the first.
public final class MJPEGScript: Sendable {
    /// The framing between the pictures of a stream.
    public enum Framing: String, Sendable, CaseIterable {
        /// Parts as defined by RFC 2046, each with its type and length.
        case plain
        /// The first part has no boundary before it.
        case noFirstBoundary = "no-first-boundary"
        /// Part headers without boundaries.
        case noBoundary = "no-boundary"
        /// Each boundary twice.
        case twoBoundaries = "two-boundaries"
        /// A line without a colon in each header.
        case noColon = "no-colon"
        case noType = "no-type"
        /// The unregistered type `image/jpg`.
        case imageJPG = "image-jpg"
        /// Boundaries without headers.
        case noFields = "no-fields"
        case shortLength = "short-length"
        case longLength = "long-length"
        /// A boundary that differs from the one in the response.
        case otherBoundary = "other-boundary"
        /// Text before the first boundary.
        case preamble
        /// Pictures without an end-of-image marker.
        case noEnd = "no-end"
        /// A preview in a segment of each picture, and another after its end.
        case previews
        /// Every third picture is truncated, and the length is that of the whole picture.
        case cut
        /// Every third picture is truncated, and the length is that of the truncated picture.
        case cutLength = "cut-length"
        /// Pictures without separators, of which every third is truncated.
        case cutRaw = "cut-raw"
        /// Text parts between the picture parts.
        case otherParts = "other-parts"
        /// Lines that end with only a line feed.
        case lineFeeds = "line-feeds"
        /// The first pictures in pieces of eleven bytes.
        case smallPieces = "small-pieces"
        /// Pictures without separators, as `video/mjpeg`.
        case raw
        /// Pictures without separators, as `image/jpeg`.
        case rawImage = "raw-image"
        /// Parts without a JPEG.
        case nothing
    }

    /// The validators for conditional requests of a still picture.
    public enum Validators: String, Sendable, CaseIterable {
        case etag, modified, none
    }

    /// How a still picture is served.
    public struct Still: Sendable {
        /// The number of requests after which the picture changes. The default is 1.
        public var change = 1
        /// The validators that the server sends. The default is `.none`.
        public var validators = Validators.none
        /// Whether the length is stated. The default is true.
        public var statesLength = true
        /// The number of requests after which the server sends an HTML page instead. The default is 0: never.
        public var pageAfter = 0
        /// The stated type. The default is `image/jpeg`.
        public var type = "image/jpeg"

        /// The default options.
        public init() {}
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address of the stream, or of the still picture.
    public let url: String
    /// The pictures in order, as a file pattern for ffmpeg.
    public let pictures: String

    /// Starts a stream server and waits until it has its pictures.
    ///
    /// - Parameters:
    ///   - carrier: `http` or `tcp`.
    ///   - end: the number of pictures for each connection; 0 for endless.
    /// - Throws: ``PeerProcess/Failure``.
    public convenience init(_ framing: Framing, carrier: String = "http", end: Int = 0) throws {
        try self.init(["--framing", framing.rawValue, "--carrier", carrier, "--end", "\(end)"])
    }

    /// Starts a still-picture server.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public convenience init(_ still: Still) throws {
        let arguments = [
            "--still", "--change", "\(still.change)", "--validators", still.validators.rawValue, "--type", still.type,
            "--page-after", "\(still.pageAfter)",
        ]
        try self.init(arguments + (still.statesLength ? [] : ["--no-length"]))
    }

    private init(_ arguments: [String]) throws {
        process = try PeerProcess("mjpeg-script.py", arguments)
        url = process.ready["url"]?.text ?? ""
        pictures = "\(process.ready["folder"]?.text ?? "")/%03d.jpg"
    }

    /// A request for the still picture.
    public struct Request: Sendable, Equatable {
        public var status: Int
        /// Whether the request named the previous version.
        public var isConditional: Bool
    }

    /// Returns the requests for the still picture so far.
    public func requests() throws -> [Request] {
        guard case .list(let list)? = try process.send("requests")["requests"] else { return [] }
        return list.map {
            Request(status: $0["status"]?.int ?? 0, isConditional: $0["isConditional"] == .bool(true))
        }
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}
