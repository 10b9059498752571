import InletCore
import InletDecode
import InletFFmpeg
import InletRTP
import InletRTSP

extension RTSPConfiguration {
    /// Returns how the session is opened.
    ///
    /// - Parameter keepAlive: what an earlier session with the server has shown.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address is none.
    func sessionConfiguration(_ keepAlive: KeepAliveMemory) throws(InletError) -> RTSPSessionConfiguration {
        let address = try NetworkAddress(url)
        if address.scheme.isSameBytes(as: "rtsps"), [.udp, .multicast].contains(transport) {
            throw InletError(
                .invalidConfiguration,
                "By \(transport.rawValue) the pictures of an rtsps address would not be encrypted. Take transport=tcp.")
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
            case .multicast: [.multicast]
            }
        if let stream { session.video = .at(stream) }
        session.responseTimeout = connectTimeout
        session.redirectCredentials = sharesCredentials ? .anyHost : .sameOrigin
        session.keepAlive = keepAlive
        return session
    }

    /// The addresses to which a server may lead.
    var addressPolicy: AddressPolicy {
        switch privateAddresses {
        case .follow: .follow
        case .deny: .deny
        case .allow: .allow
        }
    }

    /// How the server's certificate is checked.
    var tls: TLSSettings {
        TLSSettings(
            authorities: certificateAuthorities, verifies: verifiesCertificate,
            pin: certificatePin.flatMap { Self.fingerprint($0) })
    }

    /// Returns how key frames of a stream can be requested.
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

extension MediaStream {
    /// Makes the stream that a server has agreed to send.
    ///
    /// - Throws: ``InletError/Code/unsupported`` for a payload format that only libavformat reads.
    convenience init(
        _ established: RTSPSession.Established, _ configuration: RTSPConfiguration, at now: MonotonicTime,
        hostTime: @escaping () -> Int64
    ) throws(InletError) {
        let video = established.video
        guard let format = RTPPayloadFormat(video) else {
            throw InletError(
                .unsupported,
                "The video is a transport stream, or has a format that is not known here. Put ffmpeg: before the address."
            )
        }
        var reception = RTPReceiver.Settings()
        reception.payloadTypes = Set(video.payloadTypes)
        reception.clockRate = video.clockRate
        reception.isOrdered = established.transport.delivery == .tcp
        reception.maximumHold = configuration.latency
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

    /// More than the largest picture that encoders produce at 8192x8192.
    private static let largestUnit = 64 << 20
    /// What sinks may hold at once: a group of pictures of ten seconds at a high rate, many times over.
    private static let mostBytes = 512 << 20
    private static let mostUnits = 8192
}

extension RTPPayloadFormat {
    /// The layout of a stream's payloads; nil if it is not known.
    init?(_ video: VideoMedia) {
        switch video.codec {
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
