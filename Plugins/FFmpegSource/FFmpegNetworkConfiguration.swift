public import InletCore
public import InletDecode
import InletFFmpeg

/// A network stream that libavformat reads: RTSP, HTTP, HLS, RTMP, SRT, MPEG-TS over UDP.
public struct FFmpegNetworkConfiguration: PacketSourceConfiguration {
    /// The address. It may hold credentials, in any characters, percent-encoded or not.
    public var url: String
    /// How RTSP carries the media. The default, `.auto`, is TCP: cameras lose packets over UDP.
    public var transport = Transport.auto
    /// How long to wait, over UDP, for packets that are out of order. The default is 100 ms.
    public var latency = Duration.milliseconds(100)
    /// The longest part of a live stream, in time, that is analysed before the start, so that its size and rate are
    /// known beforehand. The default, 0, starts with the first key frame, which tells the size.
    public var probe = Duration.zero
    /// The user name, which overrides the address's.
    public var user: String?
    /// The password, which overrides the address's.
    public var password: String?
    /// The passphrase for SRT's encryption, 10 to 79 characters, which overrides the address's.
    public var passphrase: String?
    /// The SRT stream ID, which overrides the address's. It may hold credentials.
    public var streamID: String?
    /// The path of a PEM file with the certificate authorities to check the server against.
    public var certificateAuthorities: String?
    /// Whether the server's certificate is checked. The default is true.
    public var verifiesCertificate = CertificateCheck().isOn
    /// Where a server may lead by a redirect or a playlist. The default is `.follow`: only to addresses at least as
    /// public as its own.
    public var privateAddresses = PrivateAddresses.follow
    /// How long connecting may take. The default is 5 seconds.
    public var connectTimeout = Duration.seconds(5)
    /// How long the first packet may take. The default is 5 seconds.
    public var firstTimeout = Duration.seconds(5)
    /// How long any later packet may take. The default is 5 seconds.
    public var readTimeout = Duration.seconds(5)
    /// How often a still picture over HTTP is requested again, so that the address plays like a camera. The default is
    /// 1 second; 0 reads it once, as does any ``pace`` but `.live`.
    public var pollInterval = Duration.seconds(1)
    /// The number of decoding threads; 0 is one per core. The default, nil, is 1 for a live stream, which avoids
    /// hand-over between threads, and 0 for others.
    public var threads: Int?
    /// The largest picture that is accepted; larger ones are refused before memory is allocated. The default is
    /// 8192x8192.
    public var maximumSize = PictureLimits().size
    /// The highest frame rate that is accepted of a live stream. The default is 240.
    public var maximumFrameRate = Rational(240)
    /// The longest time from a packet's arrival to its picture, for live streams: if decoding does not keep up,
    /// pictures are dropped. The default is 250 ms; 0 is no limit.
    public var maximumLag = DecodingSettings.defaultMaximumLag
    /// The decoders that may be used. The default is libavcodec's.
    public var decoders: [DecoderPlugin] = [.libavcodec]
    /// The name of the decoder that is tried first. The default, nil, is the one with the greatest preference.
    public var decoder: String?
    /// The number of the stream to read, as ffprobe counts them. The default, nil, is the best video stream.
    public var stream: Int?
    /// What happens to damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop
    /// Options for libavformat's demuxer and protocol. The default is none.
    public var options: [String: String] = [:]
    /// How frames are paced. The default, nil, is `.unpaced` for a file over HTTP, `.realtime` for HLS, which arrives
    /// in segments, and `.live` for all else.
    public var pace: SourcePacing?

    /// How RTSP carries the media.
    public enum Transport: String, ChoiceOptionValue {
        case auto, tcp, udp, http, multicast
    }

    /// Where a server may lead.
    public typealias PrivateAddresses = InletCore.PrivateAddresses

    /// Creates a configuration for the stream at an address, with the defaults.
    public init(url: String) { self.url = url }

    /// The address without credentials.
    public var redactedURI: String { Redaction.redact(uri: url) }

    /// How the packets are decoded.
    public var decoding: DecodingSettings {
        var settings = DecodingSettings(
            decoders, decoder: decoder, threads: threads,
            limits: PictureLimits(size: maximumSize, frameRate: maximumFrameRate), damage: damage)
        settings.maximumLag = maximumLag > .zero ? maximumLag : nil
        return settings
    }

    /// Returns a source that reads the stream. Connects to nothing yet.
    public func makePacketSource() -> any FrameSource {
        FFmpegSource(FFmpegInput(kind: .network(self), stream: stream, decoding: decoding))
    }
}
