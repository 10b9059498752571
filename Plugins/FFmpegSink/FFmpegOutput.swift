public import InletCore
import InletFFmpeg
import InletOutput

/// The destination of packets, and the completion of files.
public struct FFmpegOutput: Sendable, Hashable {
    /// The format of the packets.
    public var container: FFmpegContainer
    /// A file's path, a folder's for HLS, or an address with its credentials.
    ///
    /// In a file's name, `{n}` and `{n:DIGITS}` become a number that continues from the existing files, `{date}` and
    /// `{time}` the local date and time of its first picture, `{utc}` both in UTC; a brace is written `{{` and a
    /// percent sign `%%`. A name without them replaces an existing file; if a second file is needed, after a change of
    /// size or a failure, it gets `-2` before its extension. A symbolic link is refused.
    public var destination: String
    /// The length of a file, or of a segment for HLS, which ends at the first key frame after it. A key frame that is
    /// early by half a picture or less ends a file, too. The default, nil, is no limit, and 2 seconds for HLS.
    public var segment: Duration?
    /// The size of a file in bytes, which ends at the first key frame after it. The default, nil, is no limit.
    public var segmentSize: Int?
    /// The total size in bytes of the files with the same name pattern, above which the oldest are deleted. The
    /// default, nil, keeps them.
    public var keptSize: Int?
    /// The age after completion at which files with the same name pattern are deleted, as far as the recorder knows it
    /// from its notes, or the times in their names. The default, nil, keeps them.
    public var keptAge: Duration?
    /// The mode of the files, and of the folder for HLS. The default is ``FileMode/owner``.
    public var mode = FileMode.owner
    /// The number of segments in an HLS playlist; as many older ones and one more are kept for late players, and the
    /// rest is deleted. 0 keeps all. The default is 6.
    public var playlistLength = 6
    /// The path of a PEM file with the certificate authorities to check a server of `rtmps:` or `rtsps:` against. The
    /// default, nil, uses the system's.
    public var certificateAuthorities: String?
    /// Whether such a server's certificate is checked. The default is true.
    public var verifiesCertificate = CertificateCheck().isOn
    /// The passphrase for SRT's encryption: 10 to 79 characters. The default, nil, is the address's.
    public var passphrase: String?
    /// The SRT stream ID, which may hold credentials. The default, nil, is the address's.
    public var streamID: String?
    /// How RTSP carries the media. The default is TCP.
    public var transport = Transport.tcp
    /// How long connecting, or opening a file, may take. The default is 4 seconds.
    public var connectTimeout = Duration.seconds(4)
    /// How long a server may take to accept a packet. The default is 4 seconds.
    public var writeTimeout = Duration.seconds(4)

    /// How RTSP carries the media.
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

    /// Whether files are deleted when there are too many, or they are too old.
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
                "\(container.rawValue): needs a path, such as \(container.rawValue):out.\(container.rawValue).")
        }
        // Players expect a target duration of whole seconds in the playlist, and libavformat rounds half a second to
        // zero.
        if container == .hls, let segment, segment < .seconds(1) {
            throw refuse("HLS segments shorter than a second are not played. Make segment 1s or more.")
        }
        let hasLimits = segmentSize != nil || deletesFiles
        if !container.hasSegments, hasLimits || (segment != nil && container != .hls) {
            throw refuse("\(container.rawValue): is not split into files. Leave out segment and keep.")
        }
        if container == .srt { _ = try SRTSettings(self) }
        guard container.hasSegments else { return }
        let pattern = try FileNamePattern(destination)
        if segment != nil || hasLimits, !pattern.varies {
            throw refuse(
                "Each file would overwrite the one before it. Put {n}, {date} or {time} into the name, as in cam-{n}.\(container.rawValue)."
            )
        }
        if segment != nil || segmentSize != nil, !pattern.tellsFilesApart {
            throw refuse(
                "Files that begin on one day would have one name. Put {n} or {time} into it, as in cam-{date}-{time}.\(container.rawValue)."
            )
        }
    }
}
