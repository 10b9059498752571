/// A media server on 127.0.0.1 that receives one stream, decodes it and counts its pictures.
public final class StreamReceiver: Sendable {
    /// The program of the server, and the protocol of the stream.
    public enum Kind: Sendable, Hashable {
        /// ffmpeg, with one of its protocols.
        case ffmpeg(Carrier)
        /// GStreamer's RTSP server with record enabled, for a codec with Inlet's name.
        case gstreamer(codec: String = "h264", isTLS: Bool = false)

        /// The protocols that ffmpeg listens with.
        public enum Carrier: String, Sendable, CaseIterable { case rtmp, srt, rtsp, udp }
    }

    /// A picture from the server's decoder.
    public struct Picture: Sendable, Hashable {
        /// Ticks of the stream's time base; with GStreamer, nanoseconds of its running time.
        public var pts: Int
        /// The MD5 sum of its bytes.
        public var md5: String
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address to send to.
    public let url: String
    /// The certificate of the server's authority, with TLS.
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

    /// The reason why these servers cannot run here; nil if they can.
    public static let missing = PeerProcess.missing(programs: ["ffmpeg"], typelibs: ["GstRtspServer"])

    /// Returns the number of decoded pictures, including those before restarts.
    public func frames() throws -> Int { try process.send("report")["frames"]?.int ?? 0 }

    /// Returns whether the server still runs. An ffmpeg server ends with the connection of its only client.
    public func isRunning() throws -> Bool { try process.send("report")["runs"] == true }

    /// Returns the last 200 pictures since the latest start.
    public func pictures() throws -> [Picture] {
        guard case .list(let pictures)? = try process.send("report")["latest"] else { return [] }
        return pictures.compactMap { each in
            guard case .list(let fields) = each, fields.count == 2, let pts = fields[0].int else { return nil }
            return Picture(pts: pts, md5: fields[1].text)
        }
    }

    /// Kills the server, like a power cut.
    public func kill() throws { try process.send("kill") }

    /// Restarts the server at the same address.
    public func startAgain() throws { try process.send("again", within: .seconds(20)) }
}
