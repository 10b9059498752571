public import InletCore
import InletFFmpeg
import InletOutput

/// Where packets are written, and when a file is long enough.
public struct FFmpegOutput: Sendable, Hashable {
    /// What they are written as.
    public var container: FFmpegContainer
    /// A file's path, a folder's for HLS, or an address with its credentials.
    ///
    /// `{n}` and `{n:DIGITS}` in a file's name become a number that goes on from the files that are there, `{date}` and
    /// `{time}` the local date and time at which the file begins, `{utc}` both in UTC; a brace is written `{{` and a
    /// percent sign `%%`. A name without them is replaced where it exists; should a second file become necessary, after
    /// a change of size or a failure, it gets `-2` before its extension. A symbolic link is refused.
    public var destination: String
    /// A file ends at the first key frame after this much time, and for HLS a segment. The default, nil, is never, and
    /// 2 seconds for HLS.
    public var segment: Duration?
    /// A file ends at the first key frame after this many bytes. The default, nil, is never.
    public var segmentSize: Int?
    /// The oldest files of the same name pattern are deleted while all together have more bytes than this. The default,
    /// nil, keeps them.
    public var keptSize: Int?
    /// Files of the same name pattern are deleted when they have been complete for longer than this, as far as the
    /// recorder knows by itself: by its notes, or the times in their names. The default, nil, keeps them.
    public var keptAge: Duration?
    /// Who may read the files, and enter the folder of HLS. The default is ``FileMode/owner``.
    public var mode = FileMode.owner
    /// Segments in an HLS playlist; older ones are deleted, but for as many again and one more, as late players still
    /// ask for them. 0 keeps all. The default is 6.
    public var playlistLength = 6
    /// A file of certificate authorities, in PEM, to check a server of `rtmps:` or `rtsps:` by. The default, nil, are
    /// the system's.
    public var certificateAuthorities: String?
    /// Whether such a server's certificate is checked. The default is true.
    public var verifiesCertificate = CertificateCheck().isOn
    /// What SRT encrypts with: 10 to 79 characters. The default, nil, is what the address says.
    public var passphrase: String?
    /// What the SRT server is told that the stream is, which may hold credentials. The default, nil, is what the
    /// address says.
    public var streamID: String?
    /// How RTSP carries the media. The default is TCP.
    public var transport = Transport.tcp
    /// How long a connection may take to be made, and a file to be opened. The default is 4 seconds.
    public var connectTimeout = Duration.seconds(4)
    /// How long a server may take to accept a packet. The default is 4 seconds.
    public var writeTimeout = Duration.seconds(4)

    /// How RTSP carries the media.
    public enum Transport: String, Sendable, Hashable, ChoiceOptionValue {
        /// Within the connection.
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

    /// The output by its URI, without credentials.
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
        // Players read a target duration of whole seconds out of the playlist, and libavformat rounds half a second to
        // none.
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
