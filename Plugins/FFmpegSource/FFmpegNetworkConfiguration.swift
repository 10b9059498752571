public import InletCore
public import InletDecode
import InletFFmpeg

/// A network stream that libavformat reads: RTSP, HTTP, HLS, RTMP, SRT, MPEG-TS over UDP.
public struct FFmpegNetworkConfiguration: PacketSourceConfiguration {
    /// The address. It may hold credentials, in any characters, percent-encoded or not.
    public var url: String
    /// How RTSP carries the media. The default, `.auto`, is TCP: cameras lose packets over UDP.
    public var transport = Transport.auto
    /// How long packets are waited for that came out of order, over UDP. The default is 100 ms.
    public var latency = Duration.milliseconds(100)
    /// How much of a live stream is looked at, at most, before it starts, so that its size and rate are known
    /// beforehand. The default, 0, starts with the first key frame, which tells the size.
    public var probe = Duration.zero
    /// The user, instead of the address's.
    public var user: String?
    /// The password, instead of the address's.
    public var password: String?
    /// What SRT encrypts with, instead of the address's: 10 to 79 characters.
    public var passphrase: String?
    /// What the SRT server is asked for, instead of the address's. It may hold credentials.
    public var streamID: String?
    /// A file of certificate authorities, in PEM, to check the server by.
    public var certificateAuthorities: String?
    /// Whether the server's certificate is checked. The default is true.
    public var verifiesCertificate = CertificateCheck().isOn
    /// Where a server may lead by a redirect or a playlist. The default is `.follow`: to no more private address space
    /// than its own.
    public var privateAddresses = PrivateAddresses.follow
    /// How long connecting may take. The default is 5 seconds.
    public var connectTimeout = Duration.seconds(5)
    /// How long the first packet may take. The default is 5 seconds.
    public var firstTimeout = Duration.seconds(5)
    /// How long any later packet may take. The default is 5 seconds.
    public var readTimeout = Duration.seconds(5)
    /// Threads that decode; 0 is one a core. The default, nil, is 1 for a live stream, which has no hand-over, and 0
    /// for others.
    public var threads: Int?
    /// Larger pictures are refused before memory is taken for them. The default is 8192x8192.
    public var maximumSize = PictureLimits().size
    /// A live stream with more frames a second is refused. The default is 240.
    public var maximumFrameRate = Rational(240)
    /// The longest time from a packet's arrival to its picture, for live streams: where decoding does not keep up,
    /// pictures are left out. The default is 150 ms; 0 is no limit.
    public var maximumLag = Duration.milliseconds(150)
    /// The decoders that may be used. The default is libavcodec's.
    public var decoders: [DecoderPlugin] = [.libavcodec]
    /// The name of the decoder that is tried first. The default, nil, is the one with the greatest preference.
    public var decoder: String?
    /// The number of the stream to read, as ffprobe counts them. The default, nil, is the best video stream.
    public var stream: Int?
    /// What becomes of damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop
    /// Options of libavformat's demuxer and protocol.
    public var options: [String: String] = [:]
    /// How frames come. The default, nil, is `.unpaced` for a file over HTTP, `.realtime` for HLS, which comes in
    /// pieces, and `.live` for all else.
    public var pace: SourcePacing?

    /// How RTSP carries the media.
    public enum Transport: String, ChoiceOptionValue {
        case auto, tcp, udp, http, multicast
    }

    /// Where a server may lead.
    public enum PrivateAddresses: String, ChoiceOptionValue {
        /// To no more private address space than its own: from public addresses to public ones alone, from those of a
        /// private network not to the link's, such as 169.254.169.254, nor to this machine.
        case follow
        /// To public addresses, and its own.
        case deny
        /// Everywhere.
        case allow
    }

    /// The stream at an address, with the defaults.
    public init(url: String) { self.url = url }

    /// The address without credentials.
    public var redactedURI: String { Redaction.redact(uri: url) }

    /// How its packets become pictures.
    public var decoding: DecodingSettings {
        var settings = DecodingSettings(
            decoders, decoder: decoder, threads: threads,
            limits: PictureLimits(size: maximumSize, frameRate: maximumFrameRate), damage: damage)
        settings.maximumLag = maximumLag > .zero ? maximumLag : nil
        return settings
    }

    /// A source that reads the stream. Connects to nothing yet.
    public func makePacketSource() -> any FrameSource {
        FFmpegSource(FFmpegInput(kind: .network(self), stream: stream, decoding: decoding))
    }
}
