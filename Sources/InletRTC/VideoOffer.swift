public import InletCore

/// What there is to know of a peer's offer before a media engine reads it: the video section in which it wants pictures.
///
/// Reads what comes from anyone: bounded, and without trust in any number.
public struct VideoOffer: Sendable, Hashable {
    /// A way of packing one codec.
    public struct Payload: Sendable, Hashable {
        /// The payload type, from 0 to 127.
        public var type: Int
        /// The encoding's name as the offer has it, such as `H264`.
        public var name: String
        /// The format parameters, with names in lower case.
        public var parameters: [String: String]
    }

    /// Which media section it is, from 0 on.
    public let section: Int
    /// The section's `mid`; empty where it has none.
    public let mid: String
    /// In the peer's order of preference.
    public let payloads: [Payload]
    /// The numbers of header extensions by their URIs.
    public let extensions: [String: Int]
    /// The name half of the peer's ICE credentials.
    public let userFragment: String

    /// Transport-wide sequence numbers, by which a sender learns of delay and loss (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    public static let transportWideSequence =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    /// How far to turn the picture (3GPP TS 26.114, 7.4.5).
    public static let videoOrientation = "urn:3gpp:video-orientation"

    private static let mostLines = 4000
    private static let mostSections = 32

    /// - Throws: ``PeerSessionFailure/malformedDescription`` where it is no SDP, or lacks what WebRTC needs; ``PeerSessionFailure/noCommonCodec`` where it
    ///   has no section that takes video.
    public init(_ sdp: String) throws(PeerSessionFailure) {
        let lines = sdp.split(maxSplits: Self.mostLines, omittingEmptySubsequences: true) { $0.isNewline }
        guard lines.count <= Self.mostLines, lines.first == "v=0",
            lines.allSatisfy({ $0.dropFirst().first == "=" })
        else { throw .malformedDescription }
        let sections = lines.split(omittingEmptySubsequences: false) { $0.hasPrefix("m=") }
        let heads = lines.filter { $0.hasPrefix("m=") }
        guard !heads.isEmpty, heads.count <= Self.mostSections else { throw .malformedDescription }
        for (index, head) in heads.enumerated() {
            let words = head.dropFirst(2).split(separator: " ")
            guard words.count >= 4, UInt16(words[1]) != nil else { throw .malformedDescription }
            let attributes = Attributes(sections[index + 1], session: sections[0])
            guard words[0] == "video", words[2].hasSuffix("RTP/SAVPF"), attributes.receives else { continue }
            guard let fragment = attributes.first("ice-ufrag"), attributes.first("ice-pwd") != nil,
                attributes.first("fingerprint") != nil
            else { throw .malformedDescription }
            section = index
            mid = String(attributes.own("mid") ?? "")
            payloads = attributes.payloads(words[3...])
            extensions = attributes.extensions
            userFragment = String(fragment)
            return
        }
        throw .noCommonCodec
    }

    /// The payload for a codec that suits best; nil where the peer does not take it.
    ///
    /// Of H.264, what is packed in mode 1 (RFC 6184) and is constrained baseline comes first, as that is what is encoded for everyone.
    public func payload(for codec: VideoCodec) -> Payload? {
        switch codec {
        case .h264:
            let packed = named("H264").filter { $0.parameters["packetization-mode"] == "1" }
            for profile in ["42e0", "42c0", "4200", "42"] {
                if let best = packed.first(where: { $0.profile.hasPrefix(profile) }) { return best }
            }
            return packed.first { $0.profile.isEmpty } ?? packed.first
        case .vp8: return named("VP8").first
        case .vp9: return named("VP9").first { ($0.parameters["profile-id"] ?? "0") == "0" }
        case .av1: return named("AV1").first
        case .hevc: return named("H265").first
        default: return nil
        }
    }

    /// The payload for H.264 of a profile that is not ours to choose; nil where the peer does not take that. Its level is not looked at, as browsers decode more than they say.
    public func payload(for profile: H264Profile) -> Payload? {
        let packed = named("H264").filter { $0.parameters["packetization-mode"] == "1" }
        for start in profile.takers {
            if let best = packed.first(where: { $0.profile.hasPrefix(start) }) { return best }
        }
        return nil
    }

    private func named(_ name: String) -> [Payload] { payloads.filter { $0.name.uppercased() == name } }
}

extension VideoOffer.Payload {
    /// Of H.264, its `profile-level-id` in small letters; empty without one.
    public var profile: String { (parameters["profile-level-id"] ?? "").lowercased() }
}

/// The `a=` lines of one media section and of the session.
private struct Attributes {
    private let section: [Substring]
    private let session: [Substring]

    init(_ section: ArraySlice<Substring>, session: ArraySlice<Substring>) {
        self.section = section.filter { $0.hasPrefix("a=") }.map { $0.dropFirst(2) }
        self.session = session.filter { $0.hasPrefix("a=") }.map { $0.dropFirst(2) }
    }

    func own(_ name: String) -> Substring? { Self.values(name, in: section).first }

    /// The section's own value, or the session's.
    func first(_ name: String) -> Substring? { own(name) ?? Self.values(name, in: session).first }

    private static func values(_ name: String, in lines: [Substring]) -> [Substring] {
        lines.filter { $0.hasPrefix(name + ":") }.map { $0.dropFirst(name.count + 1) }
    }

    /// `sendrecv` is what stands for none (RFC 8866, 6.7).
    var receives: Bool {
        let directions: Set<Substring> = ["sendrecv", "recvonly", "sendonly", "inactive"]
        let direction = (section.first(where: directions.contains) ?? session.first(where: directions.contains))
        return direction.map { $0 == "sendrecv" || $0 == "recvonly" } ?? true
    }

    func payloads(_ types: ArraySlice<Substring>) -> [VideoOffer.Payload] {
        let names = byNumber(Self.values("rtpmap", in: section))
        let formats = byNumber(Self.values("fmtp", in: section))
        return types.compactMap { text in
            guard let type = Int(text), (0...127).contains(type), let name = names[type]?.split(separator: "/").first
            else {
                return nil
            }
            var parameters: [String: String] = [:]
            for item in (formats[type] ?? "").split(separator: ";") {
                let pair = item.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if pair.count == 2 { parameters[pair[0].lowercased()] = String(pair[1]) }
            }
            return VideoOffer.Payload(type: type, name: String(name), parameters: parameters)
        }
    }

    /// `NUMBER REST`. The first of a number counts.
    private func byNumber(_ values: [Substring]) -> [Int: Substring] {
        var found: [Int: Substring] = [:]
        for value in values {
            let parts = value.split(separator: " ", maxSplits: 1)
            if parts.count == 2, let number = Int(parts[0]), found[number] == nil { found[number] = parts[1] }
        }
        return found
    }

    var extensions: [String: Int] {
        var found: [String: Int] = [:]
        for value in Self.values("extmap", in: section) {
            let parts = value.split(separator: " ")
            // A number may bear a direction: `3/recvonly`.
            guard parts.count >= 2, let number = parts[0].split(separator: "/").first.flatMap({ Int($0) }),
                (1...14).contains(number)
            else { continue }
            found[String(parts[1])] = found[String(parts[1])] ?? number
        }
        return found
    }
}
