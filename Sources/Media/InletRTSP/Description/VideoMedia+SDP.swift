import InletCore

extension VideoMedia {
    /// Reads a media description's statements about its best payload type: the first with a known format.
    init(_ media: SDPMedia, of sdp: SDP) {
        // Some cameras write text where the payload type belongs; the encodings name it.
        let numbers = media.payloadTypes.isEmpty ? media.encodings.keys.sorted() : media.payloadTypes
        let formats = numbers.map { (number: $0, name: Self.encodingName(of: $0, in: media)) }
        let best = formats.first { Self.isKnown($0.name) } ?? formats.first
        let number = best?.number ?? 0
        let name = best?.name ?? []
        let parameters = Self.parameters(of: number, name: name, in: media, sdp)
        let codec = Self.codec(name)
        self.codec = codec
        encodingName = name
        payloadType = number
        payloadTypes = numbers
        // The clock of the times in a transport stream is 90 kHz, whatever the description states (ISO/IEC 13818-1,
        // section 2.4.3.7).
        clockRate = name.elementsEqual("MP2T".utf8) ? 90_000 : Self.clockRate(media.encodings[number]?.clockRate)
        parameterSets = Self.parameterSets(codec, parameters)
        usesDONL = codec == .hevc && (Self.number("sprop-max-don-diff", parameters) ?? 0) > 0
        packetizationMode = Self.number("packetization-mode", parameters) ?? 0
        config = Self.value("config", parameters).flatMap { HeaderText.hexadecimalBytes($0) } ?? []
        dimensionsHint = media.frameSizes[number] ?? media.dimensions
        frameRateHint = media.frameRate
        usesFeedbackProfile = media.transport.suffix(4).elementsEqual("AVPF".utf8)
        let feedback = media.feedback.filter { $0.payloadType == nil || $0.payloadType == number }
        supportsPLI = usesFeedbackProfile || feedback.contains { $0.kind.elementsEqual("nack pli".utf8) }
        supportsFIR = usesFeedbackProfile || feedback.contains { $0.kind.starts(with: "ccm fir".utf8) }
        retransmission = Self.retransmission(
            of: number, in: media, hasNACK: feedback.contains { $0.kind.elementsEqual("nack".utf8) })
        isEncrypted = media.transport.split(separator: UInt8(ascii: "/")).contains { $0.starts(with: "SAVP".utf8) }
        isTransportStream = name.elementsEqual("MP2T".utf8)
        control = media.control
        connection = media.connection ?? sdp.connection
        port = media.port
        sourceFilter = media.sourceFilter ?? sdp.sourceFilter
    }

    /// Returns the stated clock rate if it is plausible, or else 90,000, the rate of all video formats in use. Below
    /// 1000 ticks a second, timestamps are too coarse to distinguish pictures; no clock has more than 10^9.
    private static func clockRate(_ stated: Int?) -> Int {
        stated.flatMap { (1000...1_000_000_000).contains($0) ? $0 : nil } ?? 90_000
    }

    /// Returns how lost packets of a payload type can be requested (RFC 4588, section 8.1). Some servers offer the
    /// format without naming the feedback that requests it.
    private static func retransmission(of number: UInt8, in media: SDPMedia, hasNACK: Bool) -> Retransmission? {
        guard hasNACK || media.transport.suffix(4).elementsEqual("AVPF".utf8) else { return nil }
        let repeated = media.payloadTypes.first { type in
            media.encodings[type].map { TextBytes.isSame($0.name, ignoringCase: "rtx") } ?? false
                && Self.number("apt", media.parameters[type] ?? []) == Int(number)
        }
        guard let repeated else { return hasNACK ? Retransmission() : nil }
        let time = Self.number("rtx-time", media.parameters[repeated] ?? [])
        return Retransmission(payloadType: repeated, time: time.map { .milliseconds(min($0, 60_000)) })
    }

    // MARK: Formats

    /// Returns the name of a payload type's format in upper case: as stated, by the static assignment (RFC 3551,
    /// section 6), or as the parameters show. Empty if it is not stated.
    private static func encodingName(of number: UInt8, in media: SDPMedia) -> [UInt8] {
        if let encoding = media.encodings[number] {
            return encoding.name.map { $0.isASCIILetter ? $0 & 0xDF : $0 }
        }
        if media.transport.starts(with: "MP2T".utf8) { return Array("MP2T".utf8) }
        switch number {
        case 26: return Array("JPEG".utf8)
        case 31: return Array("H261".utf8)
        case 32: return Array("MPV".utf8)
        case 33: return Array("MP2T".utf8)
        case 34: return Array("H263".utf8)
        default: break
        }
        let parameters = media.parameters[number] ?? []
        if value("sprop-parameter-sets", parameters) != nil { return Array("H264".utf8) }
        if value("sprop-sps", parameters) != nil { return Array("H265".utf8) }
        return []
    }

    private static func codec(_ name: [UInt8]) -> VideoCodec? {
        switch String(decoding: name, as: UTF8.self) {
        case "H264": .h264
        case "H265", "HEVC": .hevc
        case "JPEG": .mjpeg
        case "VP8": .vp8
        case "VP9": .vp9
        case "AV1": .av1
        case "MP4V-ES": VideoCodec(rawValue: "mpeg4")
        case "MPV": VideoCodec(rawValue: "mpeg2video")
        case "H261": VideoCodec(rawValue: "h261")
        case "H263", "H263-1998", "H263-2000": VideoCodec(rawValue: "h263")
        default: nil
        }
    }

    private static func isKnown(_ name: [UInt8]) -> Bool { codec(name) != nil || name.elementsEqual("MP2T".utf8) }

    // MARK: Parameters

    /// Returns the parameters of a payload type. Some cameras write those of the video into another media description.
    private static func parameters(
        of number: UInt8, name: [UInt8], in media: SDPMedia, _ sdp: SDP
    ) -> [SDPMedia.Parameter] {
        if let own = media.parameters[number], !own.isEmpty { return own }
        let wanted: String
        switch codec(name) {
        case .h264: wanted = "sprop-parameter-sets"
        case .hevc: wanted = "sprop-sps"
        default: return []
        }
        for other in sdp.media {
            if let list = other.parameters[number], list.contains(where: { $0.name.elementsEqual(wanted.utf8) }) {
                return list
            }
        }
        return []
    }

    private static func value(_ name: String, _ parameters: [SDPMedia.Parameter]) -> [UInt8]? {
        parameters.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static func number(_ name: String, _ parameters: [SDPMedia.Parameter]) -> Int? {
        value(name, parameters).flatMap { TextBytes.number($0) }
    }

    private static func parameterSets(_ codec: VideoCodec?, _ parameters: [SDPMedia.Parameter]) -> [[UInt8]] {
        switch codec {
        case .h264:
            // Types 7, 8, 13 and 15 are parameter sets (ITU-T H.264, table 7-1).
            return units("sprop-parameter-sets", parameters) { [7, 8, 13, 15].contains($0[0] & 0x1F) }
        case .hevc:
            // Types 32 to 34 (ITU-T H.265, table 7-1). A decoder can begin only with one of each.
            let sets = ["sprop-vps", "sprop-sps", "sprop-pps"].enumerated().map { index, name in
                units(name, parameters) { $0.count > 2 && Int($0[0] >> 1 & 0x3F) == 32 + index }
            }
            return sets.contains(where: \.isEmpty) ? [] : sets.flatMap { $0 }
        default: return []
        }
    }

    /// Returns the NAL units of a list in base64. Each element is read on its own, so that a wrong one costs only
    /// itself.
    private static func units(
        _ name: String, _ parameters: [SDPMedia.Parameter], where isWanted: ([UInt8]) -> Bool
    ) -> [[UInt8]] {
        guard let list = value(name, parameters) else { return [] }
        return list.split(separator: UInt8(ascii: ",")).prefix(64)
            .compactMap { Base64Text.decode($0) }
            .flatMap { unitsWithoutStartCodes($0) }
            .filter { !$0.isEmpty && isWanted($0) }
    }

    /// Returns the NAL units between start codes, without the zeros after them. Some cameras write a start code before
    /// or after a parameter set; a parameter set never contains one (ITU-T H.264, section 7.4.1).
    private static func unitsWithoutStartCodes(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var unit: [UInt8] = []
        func finish() {
            while unit.last == 0 { unit.removeLast() }
            if !unit.isEmpty { units.append(unit) }
            unit = []
        }
        for byte in bytes {
            if byte == 1, unit.suffix(2).elementsEqual([0, 0]) {
                finish()
            } else {
                unit.append(byte)
            }
        }
        finish()
        return units
    }
}
