public import InletCore
public import InletDecode
import InletRTSP

/// A network camera found by ONVIF. Each time it is opened, its device is queried for the address of a profile's
/// stream, which is then played over RTSP.
public struct ONVIFConfiguration: PacketSourceConfiguration {
    /// The address of the device service, `http:` or `https:` and without credentials, such as
    /// `http://camera/onvif/device_service`.
    public var device: String
    /// The name or token of the media profile. The default, nil, is the device's first one.
    public var profile: String?
    /// The settings for playing the stream. Its user and password apply to both the device and the stream; its
    /// address, ONVIF device and profile are replaced.
    public var stream = RTSPConfiguration(url: "")

    /// Creates a configuration for the first profile of a device, with default values.
    public init(device: String) { self.device = device }

    /// The address without credentials, with the profile if one is named.
    public var redactedURI: String {
        let isSecure = device.hasBytePrefix("https:")
        let rest = String(
            decoding: device.utf8.dropFirst(isSecure ? "https".utf8.count : "http".utf8.count), as: UTF8.self)
        let address = Redaction.redact(uri: (isSecure ? "onvifs" : "onvif") + rest)
        return profile.map { "\(address)?profile=\($0.sanitized(limit: 64))" } ?? address
    }

    /// The configuration of decoding.
    public var decoding: DecodingSettings { stream.decoding }

    /// The decoders that may be used. Empty by default: the `Inlet` module and the command set all of their decoders.
    public var decoders: [DecoderPlugin] {
        get { stream.decoders }
        set { stream.decoders = newValue }
    }

    /// The name of the decoder to try first. The default, nil, is the one with the highest preference.
    public var decoder: String? { stream.decoder }

    /// Returns a source that requests the address and reads the stream. It does not connect yet.
    public func makePacketSource() -> any FrameSource { ONVIFSource(self) }

    /// Returns a configuration whose sources share their knowledge about the camera.
    public func scopedToCapturer() -> any FrameSourceConfiguration {
        var scoped = self
        scoped.stream.memory = ServerMemory()
        return scoped
    }

    /// Returns the settings of the conversation with the device.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address is not that of a device service.
    func settings() throws(InletError) -> ONVIFSession.Settings {
        let device = try RTSPURL(service: Array(device.utf8))
        var settings = ONVIFSession.Settings(
            device: device, goal: .profile(named: profile.map { Array($0.utf8) }))
        settings.credentials = stream.user.map {
            RTSPCredentials(user: Array($0.utf8), password: Array((stream.password ?? "").utf8))
        }
        settings.sharesCredentials = stream.sharesCredentials
        if stream.basicPolicy == .never { settings.basic = .never }
        return settings
    }

    /// Returns the settings for playing the stream of a profile.
    ///
    /// - Parameter answer: the profile and the address of its stream, as the device states them.
    func stream(of answer: (profile: ONVIFProfile, address: RTSPURL)) -> RTSPConfiguration {
        var stream = stream
        stream.url = answer.address.text
        // Key frames are requested from the same device.
        stream.onvif = device
        stream.onvifProfile = String(decoding: answer.profile.token, as: UTF8.self)
        return stream
    }
}
