import InletCore
import InletDecode
import InletFFmpeg
import InletNetwork
import InletRTP
import InletRTSP

extension RTSPConfiguration {
    /// Returns the settings of the RTSP session.
    ///
    /// - Parameters:
    ///   - keepAlive: the knowledge from earlier sessions about the server's keep-alives.
    ///   - proven: the transport that worked in an earlier session, which is tried first. The default, nil, keeps the
    ///     order.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address is not a valid RTSP address, or if `rtsps:`
    ///   is combined with UDP or multicast.
    func sessionConfiguration(
        _ keepAlive: KeepAliveMemory, startingWith proven: RTSPSessionConfiguration.Transport? = nil
    ) throws(InletError) -> RTSPSessionConfiguration {
        let address = try NetworkAddress(url)
        if address.scheme.isSameBytes(as: "rtsps"), [.udp, .udpOnly, .multicast].contains(transport) {
            throw InletError(
                .invalidConfiguration,
                "With transport=\(transport.rawValue) the pictures of an rtsps address would not be encrypted. "
                    + "Use transport=tcp."
            )
        }
        var session = RTSPSessionConfiguration(url: try RTSPURL(Array(address.withoutCredentials.utf8)))
        if let user = user ?? address.user {
            let password = password ?? address.password ?? ""
            session.credentials = RTSPCredentials(user: Array(user.utf8), password: Array(password.utf8))
        }
        session.transports =
            switch transport {
            case .auto, .tcp, .http, .websocket: [.tcp]
            case .udp: [.udp, .tcp]
            case .udpOnly: [.udp]
            case .multicast: [.multicast, .udp, .tcp]
            }
        if let proven, session.transports.contains(proven) {
            session.transports = [proven] + session.transports.filter { $0 != proven }
        }
        if let stream { session.video = .at(stream) }
        session.responseTimeout = connectTimeout
        session.redirectCredentials = sharesCredentials ? .anyHost : .sameOrigin
        session.basic = basicPolicy
        session.keepAlive = keepAlive
        return session
    }

    /// The condition for using Basic authentication.
    var basicPolicy: RTSPAuthentication.BasicPolicy {
        switch basicAuthentication {
        case .always: .allowed
        case .encrypted: .encryptedOnly
        case .never: .never
        }
    }

    /// Returns the settings for key-frame requests by ONVIF; nil for no requests.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if an address is invalid, or if a profile is given
    ///   without a device service.
    func onvifSettings() throws(InletError) -> ONVIFSession.Settings? {
        let settings = try onvifDevice()
        return keyFrameRequests == .never ? nil : settings
    }

    /// Returns the settings of conversations with the ONVIF device; nil without a device.
    ///
    /// - Throws: as ``onvifSettings()``.
    func onvifDevice() throws(InletError) -> ONVIFSession.Settings? {
        guard let onvif else {
            guard !events else {
                throw InletError(.invalidConfiguration, "events needs onvif, the address of the device service.")
            }
            guard onvifProfile == nil else {
                throw InletError(.invalidConfiguration, "onvif-profile needs onvif, the address of the device service.")
            }
            return nil
        }
        let session = try sessionConfiguration(KeepAliveMemory())
        var settings = ONVIFSession.Settings(device: try RTSPURL(service: Array(onvif.utf8)), stream: session.url)
        settings.profile = onvifProfile.map { Array($0.utf8) }
        settings.credentials = session.credentials
        settings.sharesCredentials = sharesCredentials
        if basicPolicy == .never { settings.basic = .never }
        return settings
    }

    /// The addresses to which a server may redirect.
    var addressPolicy: AddressPolicy {
        switch privateAddresses {
        case .follow: .follow
        case .deny: .deny
        case .allow: .allow
        }
    }

    /// The verification of the server's certificate.
    var tls: TLSSettings {
        TLSSettings(
            authorities: certificateAuthorities, verifies: verifiesCertificate,
            pin: certificatePin.flatMap { Self.fingerprint($0) })
    }

    /// Returns the supported ways of requesting key frames of a stream.
    func requests(of video: VideoMedia) -> RTCPWriter.KeyFrameRequests {
        switch keyFrameRequests {
        case .never: return []
        case .always: return [.pictureLoss, .fullIntra]
        case .auto:
            var requests: RTCPWriter.KeyFrameRequests = []
            if video.supportsPLI { requests.insert(.pictureLoss) }
            if video.supportsFIR { requests.insert(.fullIntra) }
            return requests
        }
    }
}

extension Retransmission {
    /// - Parameter type: the payload type of the stream.
    fileprivate init(_ offer: VideoMedia.Retransmission, of type: UInt8) {
        let stream = offer.payloadType.map { Stream(payloadType: $0, originalType: type) }
        self.init(stream, time: offer.time)
    }
}

extension MediaStream {
    /// Creates the stream that a server has agreed to send.
    ///
    /// - Throws: ``InletError/Code/unsupported`` for a payload format that this client does not support.
    convenience init(
        _ established: RTSPSession.Established, _ configuration: RTSPConfiguration, at now: MonotonicTime,
        hostTime: @escaping () -> Int64
    ) throws(InletError) {
        let video = established.video
        guard let format = RTPPayloadFormat(video) else {
            throw InletError(
                .unsupported,
                "The payload format of the video is not supported. "
                    + "Put ffmpeg: before the address to read it with libavformat."
            )
        }
        var reception = RTPReceiver.Settings()
        reception.payloadTypes = Set(video.payloadTypes)
        if let offer = video.retransmission {
            if let type = offer.payloadType { reception.payloadTypes.remove(type) }
            // In a multicast group, the requests of all members would add up.
            if established.transport.delivery == .unicast {
                reception.retransmission = Retransmission(offer, of: video.payloadType)
                // A stream of 10 Mbit/s has about this many packets in the longest waiting time.
                reception.maximumHeldPackets = 256
            }
        }
        reception.clockRate = video.clockRate
        reception.isOrdered = established.transport.delivery == .tcp
        reception.maximumHold = configuration.latency
        reception.hasPictureTimes = format != .transportStream
        reception.expectedSSRC = established.transport.ssrc
        reception.refusesForeignSSRC = established.keepsWritingAfterClose
        var payloads = DepacketizerSettings()
        payloads.maximumSize = Self.largestUnit
        payloads.poolSize = Self.mostBytes
        payloads.poolUnits = Self.mostUnits
        payloads.damage = configuration.damage == .drop ? .drop : .pass
        payloads.parameterSets =
            video.parameterSets.isEmpty && !video.config.isEmpty ? [video.config] : video.parameterSets
        payloads.jpegSize = video.dimensionsHint
        self.init(format, reception, payloads, requests: configuration.requests(of: video), at: now, hostTime: hostTime)
    }

    /// An upper limit for the pictures that encoders produce at 8192x8192.
    private static let largestUnit = 64 << 20
    /// The maximum number of bytes that sinks may hold at once: many times a ten-second group of pictures at a high
    /// rate.
    private static let mostBytes = 512 << 20
    private static let mostUnits = 8192
}

extension RTPPayloadFormat {
    /// The layout of a stream's payloads; nil if it is unknown.
    init?(_ video: VideoMedia) {
        switch video.codec {
        case nil where video.isTransportStream: self = .transportStream
        case .h264: self = .h264
        case .hevc: self = .h265(usesDONL: video.usesDONL)
        case .mjpeg: self = .jpeg
        case .av1: self = .av1
        case .vp8: self = .vp8
        case .vp9: self = .vp9
        case VideoCodec(rawValue: "mpeg4"): self = .mpeg4Visual
        default: return nil
        }
    }
}
