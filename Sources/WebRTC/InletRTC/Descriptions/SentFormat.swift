package import InletCore

/// A codec of one session with its numbers in descriptions, which stay the same for the session (RFC 3264, 8.3.2).
package struct SentFormat: Sendable, Hashable {
    package var codec: VideoCodec
    /// The payload type.
    package var payload: Int
    /// The payload type of its retransmissions (RFC 4588); nil without retransmissions.
    package var retransmission: Int?
    /// The format parameters, such as `packetization-mode=1`; may be empty.
    package var parameters: String

    /// The first payload type that offers of this side use: the first dynamic one (RFC 3551, 6).
    package static let firstPayload = 96

    package init(_ codec: VideoCodec, payload: Int, retransmission: Int?, parameters: String = "") {
        self.codec = codec
        self.payload = payload
        self.retransmission = retransmission
        self.parameters = parameters
    }

    /// Returns the formats of an offer of this side, in the order of the codecs.
    package static func offered(_ codecs: [VideoCodec]) -> [SentFormat] {
        codecs.enumerated().map { index, codec in
            let payload = firstPayload + 2 * index
            return SentFormat(codec, payload: payload, retransmission: payload + 1, parameters: parameters(of: codec))
        }
    }

    /// The payload types for codecs that a peer's offer lacks: the dynamic ones, then those that are unassigned and do
    /// not collide with types of RTCP packets (RFC 5761, 4).
    private static let ownPayloads = Array(firstPayload...127) + Array(35...63)

    /// Returns the formats of a peer's offer, by its numbers, and further ones for codecs that it lacks, by numbers
    /// that it does not use: without retransmissions if one number is left, and no format if none is left.
    package static func taken(_ codecs: [VideoCodec], from offer: VideoOffer) -> [SentFormat] {
        var used = Set(offer.payloads.map(\.type))
        func unused() -> Int? {
            guard let number = ownPayloads.first(where: { !used.contains($0) }) else { return nil }
            used.insert(number)
            return number
        }
        return codecs.compactMap { codec in
            if let chosen = offer.payload(for: codec) { return SentFormat(codec, chosen, in: offer) }
            return unused().map { payload in
                SentFormat(codec, payload: payload, retransmission: unused(), parameters: parameters(of: codec))
            }
        }
    }

    /// The format of a peer's offer with its number and parameters.
    package init(_ codec: VideoCodec, _ chosen: VideoOffer.Payload, in offer: VideoOffer) {
        let again = offer.payloads.first {
            TextBytes.isSame($0.name.utf8, ignoringCase: "rtx") && $0.parameters["apt"] == "\(chosen.type)"
        }
        let parameters = chosen.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        self.init(
            codec, payload: chosen.type, retransmission: again?.type, parameters: parameters.joined(separator: ";"))
    }

    private static func parameters(of codec: VideoCodec) -> String {
        guard codec == .h264 else { return "" }
        return "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(OfferText.profile)"
    }

    /// The name of the encoding in `a=rtpmap` (RFC 6184, 7741, 7798 and 9628).
    private var name: String {
        switch codec {
        case .h264: "H264"
        case .hevc: "H265"
        case .vp8: "VP8"
        case .vp9: "VP9"
        case .av1: "AV1"
        default: codec.rawValue
        }
    }

    // MARK: Descriptions

    /// Returns a description whose video has these formats instead of the engine's, with the feedback of the engine's
    /// first: an engine knows only the sent one.
    package static func listing(_ formats: [SentFormat], in sdp: String) -> String {
        let feedback = feedback(in: sdp)
        let lines = formats.flatMap { $0.lines(feedback) }
        let numbers = formats.flatMap { [$0.payload] + ($0.retransmission.map { [$0] } ?? []) }
        return VideoSectionText.change(sdp) { line in
            if let words = VideoSectionText.media(line) { return words + numbers.flatMap { Array(" \($0)".utf8) } }
            return VideoSectionText.format(of: line) == nil ? line : nil
        } end: {
            lines.isEmpty ? nil : Array(lines.joined(separator: "\r\n").utf8)
        }
    }

    /// Returns a description of the peer with this format and its retransmissions first, followed by those of others
    /// that it has.
    package func first(in sdp: String, before others: [SentFormat] = []) -> String {
        let formats = [self] + others.filter { $0.payload != payload }
        let kept = formats.flatMap { [$0.payload] + ($0.retransmission.map { [$0] } ?? []) }
        return VideoSectionText.change(sdp) { line in
            if let words = VideoSectionText.media(line) {
                let present = VideoSectionText.formats(line)
                return words + kept.filter(present.contains).flatMap { Array(" \($0)".utf8) }
            }
            guard let number = VideoSectionText.format(of: line) else { return line }
            return kept.contains(number) ? line : nil
        } end: {
            nil
        }
    }

    private func lines(_ feedback: [String]) -> [String] {
        var lines = ["a=rtpmap:\(payload) \(name)/90000"]
        if !parameters.isEmpty { lines.append("a=fmtp:\(payload) \(parameters)") }
        lines += feedback.map { "a=rtcp-fb:\(payload) \($0)" }
        if let retransmission {
            lines += ["a=rtpmap:\(retransmission) rtx/90000", "a=fmtp:\(retransmission) apt=\(payload)"]
        }
        return lines
    }

    /// Returns the kinds of feedback of the first format of the first video section.
    private static func feedback(in sdp: String) -> [String] {
        var first: Int?
        var found: [String] = []
        for line in TextBytes.lines(sdp.utf8) {
            if first == nil, VideoSectionText.media(line) != nil { first = VideoSectionText.formats(line).first }
            guard let first, line.starts(with: "a=rtcp-fb:\(first) ".utf8) else { continue }
            let kind = String(decoding: line.dropFirst("a=rtcp-fb:\(first) ".utf8.count), as: UTF8.self)
            if !found.contains(kind) { found.append(kind) }
        }
        return found
    }
}
