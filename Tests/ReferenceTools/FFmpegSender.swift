/// ffmpeg as the sender of RTMP, SRT, UDP, RTP or plain TCP: a file as it is, or live timecode pictures.
public final class FFmpegSender: Sendable {
    /// How it sends. RTMP, SRT and TCP wait for one client; UDP and RTP send at once to the port of a receiver.
    public enum Carrier: String, Sendable, CaseIterable { case rtmp, srt, udp, tcp, rtp }

    /// What the sender is started with.
    public struct Options: Sendable {
        /// How it sends.
        public var carrier: Carrier
        /// The file to send as it is, as fast as it plays. The default is nil: live pictures.
        public var file: String?
        /// Whether the file is sent over and over. The default is false.
        public var isLooping = false
        /// Whether it waits for another client when one has gone. The default is false.
        public var isRepeating = false
        /// The port. The default is 0: a free one.
        public var port = 0

        /// The defaults, for a carrier.
        public init(_ carrier: Carrier) { self.carrier = carrier }
    }

    /// The process, for its log and for commands that have no method here.
    public let process: PeerProcess
    /// The port that it listens on, or sends to with UDP and RTP.
    public let port: Int
    /// What the client opens.
    public let url: String

    /// Starts ffmpeg and waits until it listens, or sends.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options) throws {
        var arguments = ["--to", options.carrier.rawValue, "--port", "\(options.port)"]
        if let file = options.file { arguments += ["--file", file] }
        if options.isLooping { arguments.append("--loop") }
        if options.isRepeating { arguments.append("--again") }
        process = try PeerProcess("ffmpeg-sender.py", arguments)
        port = process.ready["port"]?.int ?? 0
        url = process.ready["url"]?.text ?? ""
    }

    /// Live pictures.
    public static func live(_ carrier: Carrier) throws -> FFmpegSender { try FFmpegSender(Options(carrier)) }

    /// A file, over and over.
    public static func loop(_ file: String, _ carrier: Carrier) throws -> FFmpegSender {
        var options = Options(carrier)
        options.file = file
        options.isLooping = true
        return try FFmpegSender(options)
    }

    /// Why this sender cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"])

    /// Kills ffmpeg; the script stays, and starts it again with ``Options/isRepeating``.
    public func kill() throws { try process.send("kill") }

    /// Ends the sender at once.
    public func stop() { process.stop() }
}
