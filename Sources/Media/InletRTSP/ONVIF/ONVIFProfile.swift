package import InletCore

/// A media profile of an ONVIF device, as the device states it. Nothing of it is verified.
package struct ONVIFProfile: Sendable, Equatable {
    /// The identifier of the profile.
    package var token: [UInt8]
    /// The human-readable name, as it was sent; empty if the profile has no name.
    package var name: [UInt8] = []
    /// The encoding of the pictures, such as `H264`, safe on a terminal; empty if it is not stated.
    package var encoding = ""
    /// The size of the pictures in pixels; nil if it is not stated.
    package var size: ImageSize?
    /// The most pictures a second; nil if it is not stated.
    package var frameRate: Double?
    /// The address of the stream, without credentials; nil if it was not asked for or the device states none.
    package var address: RTSPURL?

    /// The most bytes of a token or a name.
    private static let longest = 256

    /// Reads an element `Profiles` of either media service; nil if it has no token.
    init?(_ element: XMLElement) {
        guard let token = element.attribute("token"), !token.isEmpty, token.count <= Self.longest else { return nil }
        self.token = token
        name = Array((element.child("Name")?.text ?? []).prefix(Self.longest))
        // Media and Media2.
        guard
            let encoder = element.child("VideoEncoderConfiguration") ?? element.first("Configurations", "VideoEncoder")
        else { return }
        encoding = Self.shown(encoder.child("Encoding")?.text ?? [], limit: 32)
        if let width = Self.number(encoder.first("Resolution", "Width")),
            let height = Self.number(encoder.first("Resolution", "Height"))
        {
            size = ImageSize(width: width, height: height)
        }
        // A whole number in Media, a fraction in Media2.
        let rate = (encoder.first("RateControl", "FrameRateLimit")?.text).flatMap {
            Double(String(decoding: $0.prefix(32), as: UTF8.self))
        }
        if let rate, rate > 0, rate <= 1000 { frameRate = rate }
    }

    /// The name, or the token if the profile has no name; safe on a terminal.
    package var title: String { Self.shown(name.isEmpty ? token : name, limit: 64) }

    /// The token, safe on a terminal.
    package var tokenText: String { Self.shown(token, limit: Self.longest) }

    private static func number(_ element: XMLElement?) -> Int? {
        guard let text = element?.text, let number = TextBytes.number(text[...], upTo: 65_535), number > 0 else {
            return nil
        }
        return Int(number)
    }

    private static func shown(_ text: [UInt8], limit: Int) -> String {
        String(decoding: text, as: UTF8.self).sanitized(limit: limit)
    }
}
