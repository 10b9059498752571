public import InletCore
import InletFFmpeg
import InletOutput

/// The destination of packets, and the rules for completing and deleting files.
public struct FFmpegOutput: Sendable, Hashable {
    /// The format of the packets.
    public var container: FFmpegContainer
    /// The path of a file, the path of a folder for HLS, or an address with its credentials.
    ///
    /// In a file's name, `{n}` and `{n:DIGITS}` become a number that continues after the existing files, `{date}` and
    /// `{time}` the local date and time of its first picture, and `{utc}` both in UTC. Write a brace as `{{` and a
    /// percent sign as `%%`. A name without fields replaces an existing file; if another file is needed, after a
    /// change of size or a failure, it gets `-2` before its extension. A symbolic link is rejected.
    public var destination: String
    /// The duration of a file, or of a segment for HLS. It ends at the first key frame after this time, or at one that
    /// is early by at most half a picture. The default, nil, is no limit, and 2 seconds for HLS.
    public var segment: Duration?
    /// The size of a file in bytes. It ends at the first key frame after this size. The default, nil, is no limit.
    public var segmentSize: Int?
    /// The total size in bytes of the files with the same name pattern. If they exceed it, the oldest are deleted. The
    /// default, nil, keeps all.
    public var keptSize: Int?
    /// The age after completion at which files with the same name pattern are deleted, as far as the recorder knows it
    /// from its notes or from the times in their names. The default, nil, keeps all.
    public var keptAge: Duration?
    /// The permissions of the files, and of the folder for HLS. The default is ``FileMode/owner``.
    public var mode = FileMode.owner
    /// The number of segments in an HLS playlist. As many older segments plus one are kept for late players, and the
    /// others are deleted. 0 keeps all. The default is 6.
    public var playlistLength = 6
    /// The path of a PEM file with the certificate authorities for verifying a server of `rtmps:` or `rtsps:`. The
    /// default, nil, uses the system's authorities.
    public var certificateAuthorities: String?
    /// Whether such a server's certificate is verified. The default is true.
    public var verifiesCertificate = CertificateCheck().isOn
    /// The passphrase for SRT's encryption: 10 to 79 characters. The default, nil, uses the one in the address.
    public var passphrase: String?
    /// The SRT stream ID, which may contain credentials. The default, nil, uses the one in the address.
    public var streamID: String?
    /// The transport of the media in RTSP. The default is TCP.
    public var transport = Transport.tcp
    /// The time that connecting or opening a file may take. The default is 4 seconds.
    public var connectTimeout = Duration.seconds(4)
    /// The time that a server may take to accept a packet. The default is 4 seconds.
    public var writeTimeout = Duration.seconds(4)

    /// The transport of the media in RTSP.
    public enum Transport: String, Sendable, Hashable, ChoiceOptionValue {
        /// Interleaved in the RTSP connection.
        case tcp
        /// RTP in UDP packets.
        case udp
    }

    public init(_ container: FFmpegContainer, to destination: String) {
        self.container = container
        self.destination = destination
    }

    /// Whether files are deleted by total size or age.
    var deletesFiles: Bool { keptSize != nil || keptAge != nil }

    /// The output's URI, without credentials.
    public var redactedURI: String {
        container.isNetwork ? Redaction.redact(uri: destination) : "\(container.rawValue):\(destination)"
    }

    /// Checks what can be checked without opening anything.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        func refuse(_ message: String) -> InletError {
            InletError(.invalidConfiguration, message, context: .init(subject: redactedURI))
        }
        guard !destination.isEmpty else {
            throw refuse(
                "Add a path to \(container.rawValue):, such as \(container.rawValue):out.\(container.rawValue).")
        }
        // Players expect a target duration in whole seconds, and libavformat rounds half a second to zero.
        if container == .hls, let segment, segment < .seconds(1) {
            throw refuse("Players cannot play HLS segments shorter than a second. Set segment to 1s or more.")
        }
        let hasLimits = segmentSize != nil || deletesFiles
        if !container.hasSegments, hasLimits || (segment != nil && container != .hls) {
            throw refuse("\(container.rawValue): cannot be split into files. Leave out segment and keep.")
        }
        if container == .srt { _ = try SRTSettings(self) }
        guard container.hasSegments else { return }
        let pattern = try FileNamePattern(destination)
        if segment != nil || hasLimits, !pattern.varies {
            throw refuse(
                "Each file would overwrite the previous one. Put {n}, {date} or {time} into the name, as in cam-{n}.\(container.rawValue)."
            )
        }
        if segment != nil || segmentSize != nil, !pattern.tellsFilesApart {
            throw refuse(
                "Files that begin on the same day would have the same name. Put {n} or {time} into it, as in cam-{date}-{time}.\(container.rawValue)."
            )
        }
    }
}
