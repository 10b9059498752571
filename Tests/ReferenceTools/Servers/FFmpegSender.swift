/// ffmpeg as a sender by RTMP, SRT, UDP, RTP or plain TCP. It sends an unchanged file or live timecode pictures.
public final class FFmpegSender: Sendable {
    /// The protocol. RTMP, SRT and TCP wait for one client; UDP and RTP send at once to the receiver's port.
    public enum Carrier: String, Sendable, CaseIterable { case rtmp, srt, udp, tcp, rtp }

    /// Options of the sender.
    public struct Options: Sendable {
        /// The protocol.
        public var carrier: Carrier
        /// The file to send unchanged, in real time. The default is nil: live pictures.
        public var file: String?
        /// Whether the sender repeats the file. The default is false.
        public var isLooping = false
        /// Whether the sender waits for another client after one disconnects. The default is false.
        public var isRepeating = false
        /// The port. The default is 0: any free port.
        public var port = 0

        /// The default options for a protocol.
        public init(_ carrier: Carrier) { self.carrier = carrier }
    }

    /// The process, for its log and for commands without a method here.
    public let process: PeerProcess
    /// The port that the sender listens on. With UDP and RTP it is the destination port.
    public let port: Int
    /// The URL for the client.
    public let url: String

    /// Starts ffmpeg and waits until it listens or sends.
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

    /// Starts a sender of live pictures.
    public static func live(_ carrier: Carrier) throws -> FFmpegSender { try FFmpegSender(Options(carrier)) }

    /// Starts a sender that repeats a file.
    public static func loop(_ file: String, _ carrier: Carrier) throws -> FFmpegSender {
        var options = Options(carrier)
        options.file = file
        options.isLooping = true
        return try FFmpegSender(options)
    }

    /// The reason why this sender cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"])

    /// Kills ffmpeg. The script continues, and restarts ffmpeg if ``Options/isRepeating`` is true.
    public func kill() throws { try process.send("kill") }

    /// Ends the sender at once.
    public func stop() { process.stop() }
}
