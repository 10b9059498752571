import Foundation

/// Motion JPEG and still pictures of a camera that follows no standard, over HTTP or plain TCP. Each connection gets
/// the same pictures from the first one on.
public final class MJPEGScript: Sendable {
    /// The framing between the pictures of a stream.
    public enum Framing: String, Sendable, CaseIterable {
        /// Parts as RFC 2046 has them, each with its type and its length.
        case plain
        /// The first part has no boundary before it.
        case noFirstBoundary = "no-first-boundary"
        /// Headers of parts, and no boundaries.
        case noBoundary = "no-boundary"
        /// Each boundary twice.
        case twoBoundaries = "two-boundaries"
        /// A line in each header that has no colon.
        case noColon = "no-colon"
        case noType = "no-type"
        /// `image/jpg`, which is no registered type.
        case imageJPG = "image-jpg"
        /// Boundaries, and no headers.
        case noFields = "no-fields"
        case shortLength = "short-length"
        case longLength = "long-length"
        /// Another boundary than the response states.
        case otherBoundary = "other-boundary"
        /// Text before the first boundary.
        case preamble
        /// Pictures without an end of image.
        case noEnd = "no-end"
        /// A preview in a segment of each picture, and another behind its end.
        case previews
        /// Every third picture is cut, and the length is that of the whole.
        case cut
        /// Every third picture is cut, and the length is what is there.
        case cutLength = "cut-length"
        /// Pictures without anything between them, of which every third is cut.
        case cutRaw = "cut-raw"
        /// Parts with text between those with pictures.
        case otherParts = "other-parts"
        /// Lines that end with a line feed only.
        case lineFeeds = "line-feeds"
        /// The first pictures in pieces of eleven bytes.
        case smallPieces = "small-pieces"
        /// Pictures without anything between them, as `video/mjpeg`.
        case raw
        /// The same as `image/jpeg`.
        case rawImage = "raw-image"
        /// Parts without a JPEG.
        case nothing
    }

    /// By what a still picture can be requested only if it is another.
    public enum Validators: String, Sendable, CaseIterable {
        case etag, modified, none
    }

    /// How a still picture is served.
    public struct Still: Sendable {
        /// After how many requests it is another picture. The default is 1.
        public var change = 1
        /// The validators that the server states. The default is `.none`.
        public var validators = Validators.none
        /// Whether the length is stated. The default is true.
        public var statesLength = true
        /// After how many requests a page of HTML is served instead. The default is 0: never.
        public var pageAfter = 0
        /// The type that is stated. The default is `image/jpeg`.
        public var type = "image/jpeg"

        /// The defaults.
        public init() {}
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address of the stream, or of the still picture.
    public let url: String
    /// The pictures in their order, for ffmpeg: a pattern of files.
    public let pictures: String

    /// Starts a server of a stream, and waits until it has its pictures.
    ///
    /// - Parameters:
    ///   - carrier: `http` or `tcp`.
    ///   - end: how many pictures a connection gets; 0 is no end.
    /// - Throws: ``PeerProcess/Failure``.
    public convenience init(_ framing: Framing, carrier: String = "http", end: Int = 0) throws {
        try self.init(["--framing", framing.rawValue, "--carrier", carrier, "--end", "\(end)"])
    }

    /// Starts a server of a still picture.
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
        /// Whether it referred to the version that was there before.
        public var isConditional: Bool
    }

    /// The requests for the still picture so far.
    public func requests() throws -> [Request] {
        guard case .list(let list)? = try process.send("requests")["requests"] else { return [] }
        return list.map {
            Request(status: $0["status"]?.int ?? 0, isConditional: $0["isConditional"] == .bool(true))
        }
    }

    /// Ends the server at once.
    public func stop() { process.stop() }
}
