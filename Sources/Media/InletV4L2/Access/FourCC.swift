import InletCore

/// The four letters by which V4L2 names a pixel format, such as `YUYV`.
///
/// Formats with the most significant byte first have a mark in their last letter, and are written as `Y16 -BE`.
public struct FourCC: RawRepresentable, Sendable, Hashable {
    /// The letters as `linux/videodev2.h` packs them, the first in the lowest byte.
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bit 31 of a format means big-endian: `v4l2_fourcc_be`.
    private static let bigEndianMark: UInt32 = 1 << 31

    /// Reads up to four ASCII letters; missing ones are spaces. Nil for anything else.
    public init?(_ text: String) {
        var letters = text
        var mark: UInt32 = 0
        if letters.hasByteSuffix("-BE") {
            letters = String(Substring(letters.utf8.dropLast(3)))
            mark = Self.bigEndianMark
        }
        let bytes = Array(letters.utf8)
        guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        var value: UInt32 = 0
        for index in 0..<4 { value |= UInt32(index < bytes.count ? bytes[index] : 0x20) << (8 * index) }
        rawValue = value | mark
    }

    /// Whether samples of more than a byte have their most significant byte first.
    public var isBigEndian: Bool { rawValue & Self.bigEndianMark != 0 }
}

extension FourCC: CustomStringConvertible {
    /// The letters, without spaces at the end.
    public var description: String {
        let letters = (0..<4).map { index -> Character in
            let byte = UInt8(truncatingIfNeeded: (rawValue & ~Self.bigEndianMark) >> (8 * UInt32(index)))
            return (0x20..<0x7F).contains(byte) ? Character(Unicode.Scalar(byte)) : "?"
        }
        var text = String(letters)
        while text.hasByteSuffix(" ") { text.removeLast() }
        return isBigEndian ? text + "-BE" : text
    }
}

extension FourCC: ExpressibleByStringLiteral {
    /// For constants in tables. An invalid name becomes question marks.
    public init(stringLiteral value: String) {
        self = FourCC(value) ?? FourCC(rawValue: 0x3F3F_3F3F)
    }
}

extension FourCC: Codable {
    /// - Throws: an error if the text is not up to four letters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let code = FourCC(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no four letters")
        }
        self = code
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
