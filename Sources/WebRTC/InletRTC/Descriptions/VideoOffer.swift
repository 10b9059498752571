package import InletCore

/// The facts about a peer's offer that are needed before a media engine reads it: the video section in which it wants
/// pictures, or sends them.
///
/// Parses untrusted input: bounded, and without trust in any number.
package struct VideoOffer: Sendable, Hashable {
    /// A payload format of one codec.
    package struct Payload: Sendable, Hashable {
        /// The payload type, from 0 to 127.
        package var type: Int
        /// The encoding's name as the offer spells it, such as `H264`.
        package var name: String
        /// The format parameters, with names in lower case.
        package var parameters: [String: String]
    }

    /// The index of the media section, from 0.
    package let section: Int
    /// The section's `mid`; empty if it has none.
    package let mid: String
    /// The payload formats, in the peer's order of preference.
    package let payloads: [Payload]
    /// The numbers of header extensions by their URIs.
    package let extensions: [String: Int]
    /// The user name fragment of the peer's ICE credentials.
    package let userFragment: String

    /// The URI of transport-wide sequence numbers, by which a sender learns of delay and loss
    /// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    package static let transportWideSequence =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    /// The URI of the picture's rotation (3GPP TS 26.114, 7.4.5).
    package static let videoOrientation = "urn:3gpp:video-orientation"

    /// The peer's role in a section.
    package enum Direction: Sendable {
        /// It wants pictures.
        case receives
        /// It sends pictures.
        case sends
    }

    /// - Parameters:
    ///   - sdp: the peer's offer or answer.
    ///   - direction: the peer's role in the section that is searched for. The default is
    ///     ``Direction-swift.enum/receives``.
    /// - Throws: ``PeerSessionFailure/malformedDescription`` if the text is not SDP, or lacks parts that WebRTC needs;
    ///   ``PeerSessionFailure/limit`` if it has more than any peer needs; ``PeerSessionFailure/noCommonCodec`` if no
    ///   section of video has that direction.
    package init(_ sdp: String, in direction: Direction = .receives) throws(PeerSessionFailure) {
        let (session, media) = try SDPText(sdp).sections()
        let common = Attributes(session)
        for (index, part) in media.enumerated() {
            guard part.words[0].elementsEqual("video".utf8), part.words[2].reversed().starts(with: Self.profile) else {
                continue
            }
            let attributes = Attributes(part.attributes)
            let ways = attributes.ways ?? common.ways ?? (receives: true, sends: true)
            guard direction == .receives ? ways.receives : ways.sends else { continue }
            guard let fragment = attributes.userFragment ?? common.userFragment,
                attributes.hasPassword || common.hasPassword, attributes.hasFingerprint || common.hasFingerprint
            else { throw .malformedDescription }
            section = index
            mid = attributes.mid ?? ""
            payloads = attributes.payloads(part.words[3...])
            extensions = attributes.extensions
            userFragment = fragment
            return
        }
        throw .noCommonCodec
    }

    /// The common end of all transports of WebRTC (RFC 8829, 5.1.2), reversed.
    private static let profile = Array("RTP/SAVPF".utf8.reversed())

    /// Returns the best payload for a codec; nil if the peer does not accept the codec.
    ///
    /// For H.264, packetization mode 1 (RFC 6184) and constrained baseline come first, because that is encoded for all
    /// viewers.
    package func payload(for codec: VideoCodec) -> Payload? {
        switch codec {
        case .h264:
            let packed = named("h264").filter { $0.parameters["packetization-mode"] == "1" }
            for profile in ["42e0", "42c0", "4200", "42"] {
                if let best = packed.first(where: { $0.profile.hasBytePrefix(profile) }) { return best }
            }
            return packed.first { $0.profile.isEmpty } ?? packed.first
        case .vp8: return named("vp8").first
        case .vp9: return named("vp9").first { ($0.parameters["profile-id"] ?? "0") == "0" }
        case .av1: return named("av1").first
        case .hevc: return named("h265").first
        default: return nil
        }
    }

    /// Returns the payload for H.264 of a given profile; nil if the peer does not accept it. The level is ignored,
    /// because browsers decode more than they state.
    package func payload(for profile: H264Profile) -> Payload? {
        let packed = named("h264").filter { $0.parameters["packetization-mode"] == "1" }
        for start in profile.takers {
            if let best = packed.first(where: { $0.profile.hasBytePrefix(start) }) { return best }
        }
        return nil
    }

    private func named(_ name: StaticString) -> [Payload] {
        payloads.filter { TextBytes.isSame($0.name.utf8, ignoringCase: name) }
    }
}

extension VideoOffer.Payload {
    /// The `profile-level-id` of H.264 in lower case; may be empty.
    package var profile: String {
        (parameters["profile-level-id"] ?? "").lowercasedASCII
    }
}

/// The attributes of one media section or of the session, each read once. The first with a name, or a number, counts.
private struct Attributes {
    private(set) var mid: String?
    private(set) var userFragment: String?
    private(set) var hasPassword = false
    private(set) var hasFingerprint = false
    /// Whether the section receives and sends; nil if no direction is stated, which means `sendrecv` (RFC 8866, 6.7).
    private(set) var ways: (receives: Bool, sends: Bool)?
    private(set) var extensions: [String: Int] = [:]
    private var names: [Int: ArraySlice<UInt8>] = [:]
    private var formats: [Int: ArraySlice<UInt8>] = [:]

    init(_ attributes: [ArraySlice<UInt8>]) {
        for attribute in attributes {
            if let value = SDPText.value(of: "mid", in: attribute) {
                mid = mid ?? Self.text(value)
            } else if let value = SDPText.value(of: "ice-ufrag", in: attribute) {
                userFragment = userFragment ?? Self.text(value)
            } else if SDPText.value(of: "ice-pwd", in: attribute) != nil {
                hasPassword = true
            } else if SDPText.value(of: "fingerprint", in: attribute) != nil {
                hasFingerprint = true
            } else if let value = SDPText.value(of: "rtpmap", in: attribute) {
                Self.note(value, in: &names)
            } else if let value = SDPText.value(of: "fmtp", in: attribute) {
                Self.note(value, in: &formats)
            } else if let value = SDPText.value(of: "extmap", in: attribute) {
                noteExtension(value)
            } else if ways == nil {
                ways = Self.ways(attribute)
            }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func ways(_ attribute: ArraySlice<UInt8>) -> (receives: Bool, sends: Bool)? {
        if attribute.elementsEqual("sendrecv".utf8) { return (true, true) }
        if attribute.elementsEqual("recvonly".utf8) { return (true, false) }
        if attribute.elementsEqual("sendonly".utf8) { return (false, true) }
        return attribute.elementsEqual("inactive".utf8) ? (false, false) : nil
    }

    /// Records the rest of `NUMBER REST` under its number.
    private static func note(_ value: ArraySlice<UInt8>, in found: inout [Int: ArraySlice<UInt8>]) {
        let parts = value.split(separator: UInt8(ascii: " "), maxSplits: 1)
        if parts.count == 2, let number = TextBytes.number(parts[0], upTo: 127), found[number] == nil {
            found[number] = parts[1]
        }
    }

    private mutating func noteExtension(_ value: ArraySlice<UInt8>) {
        let parts = value.split(separator: UInt8(ascii: " "))
        // A number may have a direction: `3/recvonly`.
        guard parts.count >= 2,
            let number = TextBytes.number(parts[0].prefix { $0 != UInt8(ascii: "/") }, upTo: 14), number > 0
        else { return }
        let uri = Self.text(parts[1])
        extensions[uri] = extensions[uri] ?? number
    }

    /// Returns each payload type once, even if it is repeated.
    func payloads(_ types: ArraySlice<ArraySlice<UInt8>>) -> [VideoOffer.Payload] {
        var seen: Set<Int> = []
        return types.compactMap { text in
            guard let type = TextBytes.number(text, upTo: 127), seen.insert(type).inserted,
                let name = names[type]?.prefix(while: { $0 != UInt8(ascii: "/") }), !name.isEmpty
            else { return nil }
            var parameters: [String: String] = [:]
            for item in (formats[type] ?? []).split(separator: UInt8(ascii: ";")) {
                let pair = item.drop { $0 == UInt8(ascii: " ") }.split(separator: UInt8(ascii: "="), maxSplits: 1)
                guard pair.count == 2 else { continue }
                parameters[String(decoding: TextBytes.lowercased(pair[0]), as: UTF8.self)] = Self.text(pair[1])
            }
            return VideoOffer.Payload(type: type, name: Self.text(name), parameters: parameters)
        }
    }
}
