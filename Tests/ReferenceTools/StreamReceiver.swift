/// A media server on 127.0.0.1 that takes one stream, decodes it and counts its pictures.
public final class StreamReceiver: Sendable {
    /// What the server is, and how the stream comes.
    public enum Kind: Sendable, Hashable {
        /// ffmpeg, by one of its protocols.
        case ffmpeg(Carrier)
        /// GStreamer's RTSP server with record enabled, for a codec by the name that Inlet gives it.
        case gstreamer(codec: String = "h264", isTLS: Bool = false)

        /// What ffmpeg listens for.
        public enum Carrier: String, Sendable, CaseIterable { case rtmp, srt, rtsp, udp }
    }

    /// A picture as it came out of the server's decoder.
    public struct Picture: Sendable, Hashable {
        /// In ticks of the stream's own time base; with GStreamer in nanoseconds of its running time.
        public var pts: Int
        /// The MD5 sum of its bytes.
        public var md5: String
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// Where to send.
    public let url: String
    /// The certificate of the authority that vouches for the server, with TLS.
    public let authority: String?

    /// Starts the server and waits until it listens.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ kind: Kind) throws {
        process =
            switch kind {
            case .ffmpeg(let carrier): try PeerProcess("ffmpeg-receiver.py", ["--kind", carrier.rawValue])
            case .gstreamer(let codec, let isTLS):
                try PeerProcess("gst-receiver.py", ["--codec", codec] + (isTLS ? ["--tls"] : []))
            }
        url = process.ready["url"]?.text ?? ""
        authority = process.ready["ca"]?.text
    }

    /// Why these servers cannot run here; nil where they can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"], typelibs: ["GstRtspServer"])

    /// How many pictures it has decoded, over all of its lives.
    public func frames() throws -> Int { try process.send("report")["frames"]?.int ?? 0 }

    /// Whether it has not ended. One of ffmpeg's ends with the connection of the one client that it takes.
    public func isRunning() throws -> Bool { try process.send("report")["runs"] == true }

    /// The pictures of its present life, the last 200 of them.
    public func pictures() throws -> [Picture] {
        guard case .list(let pictures)? = try process.send("report")["latest"] else { return [] }
        return pictures.compactMap { each in
            guard case .list(let fields) = each, fields.count == 2, let pts = fields[0].int else { return nil }
            return Picture(pts: pts, md5: fields[1].text)
        }
    }

    /// Ends the server at once, as a power cut would.
    public func kill() throws { try process.send("kill") }

    /// Starts the server again at the same address.
    public func startAgain() throws { try process.send("again", within: .seconds(20)) }
}
