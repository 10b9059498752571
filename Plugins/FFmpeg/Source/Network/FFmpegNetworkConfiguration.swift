public import InletCore
public import InletDecode
import InletFFmpeg

/// A network stream that libavformat reads: RTSP, HTTP, HLS, RTMP, SRT, MPEG-TS over UDP.
public struct FFmpegNetworkConfiguration: PacketSourceConfiguration {
    /// The address. It may contain credentials, in any characters, percent-encoded or not.
    public var url: String
    /// The transport of RTSP's media. The default, `.auto`, is TCP: cameras lose packets over UDP.
    public var transport = Transport.auto
    /// The time to wait for reordered packets over UDP. The default is 100 ms.
    public var latency = Duration.milliseconds(100)
    /// The maximum duration of a live stream that is analysed before the start to determine its size and rate in
    /// advance. The default, 0, starts with the first key frame, which states the size.
    public var probe = Duration.zero
    /// The user name, which overrides the one in the address.
    public var user: String?
    /// The password, which overrides the one in the address.
    public var password: String?
    /// The passphrase for SRT's encryption, 10 to 79 characters, which overrides the one in the address.
    public var passphrase: String?
    /// The SRT stream ID, which overrides the one in the address. It may contain credentials.
    public var streamID: String?
    /// The path of a PEM file with the certificate authorities for verifying the server.
    public var certificateAuthorities: String?
    /// Whether the server's certificate is verified. The default is true.
    public var verifiesCertificate = CertificateCheck().isOn
    /// The addresses to which a server may redirect, including by a playlist. The default is `.follow`: only addresses
    /// at least as public as its own.
    public var privateAddresses = PrivateAddresses.follow
    /// The time limit for connecting. The default is 5 seconds.
    public var connectTimeout = Duration.seconds(5)
    /// The time limit for the first packet. The default is 5 seconds.
    public var firstTimeout = Duration.seconds(5)
    /// The time limit for any later packet. The default is 5 seconds.
    public var readTimeout = Duration.seconds(5)
    /// The interval at which a still picture over HTTP is requested again, so that the address plays like a camera.
    /// The default is 1 second; 0 reads it once, as does any ``pace`` except `.live`.
    public var pollInterval = Duration.seconds(1)
    /// The number of decoding threads; 0 is one per core. The default, nil, is 1 for a live stream, which avoids
    /// handing data over between threads, and 0 for others.
    public var threads: Int?
    /// The largest accepted picture; larger ones are rejected before memory is allocated. The default is 8192x8192.
    public var maximumSize = PictureLimits().size
    /// The highest accepted frame rate of a live stream. The default is 240.
    public var maximumFrameRate = Rational(240)
    /// The longest time from a packet's arrival to its picture, for live streams. If decoding does not keep up,
    /// pictures are dropped. The default is 250 ms; 0 is no limit.
    public var maximumLag = DecodingSettings.defaultMaximumLag
    /// The decoders that may be used. The default is libavcodec's.
    public var decoders: [DecoderPlugin] = [.libavcodec]
    /// The name of the decoder to try first. The default, nil, is the one with the highest preference.
    public var decoder: String?
    /// The number of the stream to read, as ffprobe counts them. The default, nil, is the best video stream.
    public var stream: Int?
    /// The handling of damaged pictures. The default is `.drop`.
    public var damage = DamagePolicy.drop
    /// Options for libavformat's demuxer and protocol. Empty by default.
    public var options: [String: String] = [:]
    /// The pacing of frames. The default, nil, is `.unpaced` for a file over HTTP, `.realtime` for HLS, which arrives
    /// in segments, and `.live` for everything else.
    public var pace: SourcePacing?

    /// The transport of RTSP's media.
    public enum Transport: String, ChoiceOptionValue {
        case auto, tcp, udp, http, multicast
    }

    /// The addresses to which a server may redirect.
    public typealias PrivateAddresses = InletCore.PrivateAddresses

    /// Creates a configuration for the stream at an address, with the default values.
    public init(url: String) { self.url = url }

    /// The address without credentials.
    public var redactedURI: String { Redaction.redact(uri: url) }

    /// The configuration of decoding.
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
