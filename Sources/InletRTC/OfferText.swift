/// What is written into an offer that an engine made, where engines leave it out and peers need it. Pure.
public enum OfferText {
    /// Constrained baseline, level 3.1: what every browser decodes (RFC 6184, 8.1).
    public static let profile = "42e01f"

    /// The offer as it is sent.
    ///
    /// - H.264 bears its profile and packing, without which servers take it for another (RFC 6184, 8.2.2).
    /// - `a=setup:active`: an engine whose certificate is of RSA can begin DTLS with a peer that takes ECDSA alone, but not the other way round. A peer that is told so answers
    ///   `passive` (RFC 5763, 5).
    public static func prepared(_ sdp: String) -> String {
        let lines = sdp.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        let types = lines.compactMap { line -> Substring? in
            guard line.hasPrefix("a=rtpmap:"), line.uppercased().contains(" H264/") else { return nil }
            return line.dropFirst(9).prefix { $0 != " " }
        }
        var prepared: [String] = []
        for line in lines {
            if line == "a=setup:actpass" {
                prepared.append("a=setup:active")
            } else if let type = types.first(where: { line.hasPrefix("a=fmtp:\($0) ") }) {
                prepared.append("a=fmtp:\(type) " + parameters(line.dropFirst("a=fmtp:\(type) ".count)))
            } else {
                prepared.append(String(line))
                let type = line.hasPrefix("a=rtpmap:") ? line.dropFirst(9).prefix { $0 != " " } : ""
                if types.contains(type), !lines.contains(where: { $0.hasPrefix("a=fmtp:\(type) ") }) {
                    prepared.append("a=fmtp:\(type) " + parameters(""))
                }
            }
        }
        return prepared.map { $0 + "\r\n" }.joined()
    }

    private static func parameters(_ text: Substring) -> String {
        let given = text.split(separator: ";").map { item in String(item.drop { $0 == " " }) }
        let names = Set(given.map { $0.prefix { $0 != "=" }.lowercased() })
        let wanted = [
            ("packetization-mode", "1"), ("profile-level-id", profile), ("level-asymmetry-allowed", "1"),
        ]
        return (given + wanted.filter { !names.contains($0.0) }.map { "\($0.0)=\($0.1)" }).joined(separator: ";")
    }
}
