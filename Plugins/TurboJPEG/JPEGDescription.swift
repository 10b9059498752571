import InletCore

/// The properties of a picture that a JPEG (ITU-T T.81) states before its data, as far as they determine the decoder.
///
/// The size of an allocation never depends on the JPEG's statements.
struct JPEGDescription: Sendable, Hashable {
    /// The result of reading a JPEG's header.
    enum Reading: Sendable, Hashable {
        case picture(JPEGDescription)
        /// A kind of JPEG that is left to other decoders, with its name.
        case foreign(String)
        /// Not a JPEG, or one that is cut off or invalid before its data begins.
        case malformed
    }

    var size: ImageSize
    /// Whether there is chroma in addition to luma.
    var hasChroma: Bool
    /// Whether all components are in one scan, which is decoded row by row.
    var isBaseline: Bool
    /// Whether there are restart markers in the data (DRI, section B.2.4.4).
    var hasRestarts = false
    /// The width of a pixel over its height; nil if not stated.
    var sampleAspectRatio: Rational?

    private struct Found {
        var density: Rational?
        var adobeTransform: UInt8?
        var hasRestarts = false
        var foreign: String?
    }

    /// Reads the segments up to the data of the first scan.
    static func read(_ bytes: Span<UInt8>) -> Reading {
        guard bytes.count > 3, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return .malformed }
        var found = Found()
        var frame: JPEGDescription?
        var place = 2
        while place + 1 < bytes.count {
            guard bytes[place] == 0xFF else { return .malformed }
            let kind = bytes[place + 1]
            switch kind {
            // Any number of FF bytes may precede a marker.
            case 0xFF: place += 1
            // Markers without a segment (section B.1.1.3): TEM, RST and SOI.
            case 0x01, 0xD0...0xD8: place += 2
            case 0xD9: return .malformed
            default:
                guard place + 3 < bytes.count else { return .malformed }
                let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
                let end = place + 2 + length
                guard length >= 2, end <= bytes.count else { return .malformed }
                let segment = bytes.extracting(place + 4..<end)
                switch kind {
                case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                    guard frame == nil else { return .foreign("more than one frame") }
                    guard let read = readFrame(segment, kind, &found) else { return .malformed }
                    frame = read
                case 0xDA:
                    guard var frame, !segment.isEmpty else { return .malformed }
                    if let foreign = found.foreign ?? colors(of: frame, found) { return .foreign(foreign) }
                    frame.isBaseline = frame.isBaseline && segment[0] == (frame.hasChroma ? 3 : 1)
                    frame.hasRestarts = found.hasRestarts
                    frame.sampleAspectRatio = found.density
                    return .picture(frame)
                case 0xDD: found.hasRestarts = segment.count > 1 && (segment[0] != 0 || segment[1] != 0)
                case 0xE0...0xEF, 0xFE: note(segment, kind, &found)
                default: break
                }
                place = end
            }
        }
        return .malformed
    }

    /// Reads the frame header (section B.2.2).
    private static func readFrame(_ bytes: Span<UInt8>, _ kind: UInt8, _ found: inout Found) -> JPEGDescription? {
        guard bytes.count >= 9, bytes.count >= 6 + 3 * Int(bytes[5]) else { return nil }
        let size = ImageSize(
            width: Int(bytes[3]) << 8 | Int(bytes[4]), height: Int(bytes[1]) << 8 | Int(bytes[2]))
        var components: [UInt8] = []
        for index in 0..<Int(bytes[5]) { components.append(bytes[6 + 3 * index]) }
        // Table B.1: baseline, extended and progressive, with Huffman or arithmetic coding.
        if ![0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(kind) { found.foreign = "lossless or hierarchical" }
        if bytes[0] != 8 { found.foreign = "\(bytes[0])-bit samples" }
        if components.count != 1, components.count != 3 { found.foreign = "\(components.count) components" }
        if components == Array("RGB".utf8) { found.foreign = "components of red, green and blue" }
        guard size.isValid else { return nil }
        return JPEGDescription(
            size: size, hasChroma: components.count > 1, isBaseline: [0xC0, 0xC1, 0xC9].contains(kind),
            sampleAspectRatio: nil)
    }

    private static func colors(of frame: JPEGDescription, _ found: Found) -> String? {
        // Adobe's technical note 5116: 1 is YCbCr.
        guard frame.hasChroma, let transform = found.adobeTransform, transform != 1 else { return nil }
        return "components of red, green and blue"
    }

    /// Records applications' segments, as libavcodec reads them.
    private static func note(_ bytes: Span<UInt8>, _ kind: UInt8, _ found: inout Found) {
        switch kind {
        case 0xE0 where bytes.begins(with: "JFIF\0") && bytes.count >= 12:
            let (width, height) = (bytes.word(8, isLittle: false) ?? 0, bytes.word(10, isLittle: false) ?? 0)
            if width > 0, height > 0 { found.density = Rational(exactly: width, over: height) }
        case 0xE0 where bytes.begins(with: "AVI1") && bytes.count > 4 && bytes[4] != 0:
            found.foreign = "one field of two"
        case 0xE1 where bytes.begins(with: "LJIF"): found.foreign = "lossless"
        case 0xE1 where bytes.begins(with: "Exif\0\0"):
            if let orientation = exifOrientation(bytes.extracting(6...)), orientation != 1 {
                found.foreign = "a picture that has to be rotated"
            }
        case 0xEE where bytes.begins(with: "Adobe") && bytes.count >= 12: found.adobeTransform = bytes[11]
        case 0xFE where bytes.begins(with: "CS=ITU601"): found.foreign = "limited-range colours"
        case 0xFE where bytes.begins(with: "Intel(R) JPEG Library, version 1"): found.foreign = "an upside-down picture"
        default: break
        }
    }

    /// Returns the Orientation tag of the first directory (Exif 2.3, sections 4.6.2 and 4.6.4); nil without one.
    private static func exifOrientation(_ bytes: Span<UInt8>) -> Int? {
        let isLittle: Bool
        if bytes.begins(with: "II") {
            isLittle = true
        } else if bytes.begins(with: "MM") {
            isLittle = false
        } else {
            return nil
        }
        guard let high = bytes.word(isLittle ? 6 : 4, isLittle: isLittle), high == 0,
            let start = bytes.word(isLittle ? 4 : 6, isLittle: isLittle),
            let count = bytes.word(start, isLittle: isLittle)
        else { return nil }
        for index in 0..<count {
            let entry = start + 2 + 12 * index
            guard let tag = bytes.word(entry, isLittle: isLittle) else { return nil }
            if tag == 0x0112 { return bytes.word(entry + 8, isLittle: isLittle) }
        }
        return nil
    }
}

extension Span<UInt8> {
    fileprivate func begins(with text: String) -> Bool {
        guard count >= text.utf8.count else { return false }
        for (index, byte) in text.utf8.enumerated() where self[index] != byte { return false }
        return true
    }

    /// Returns a 16-bit number; nil beyond the end.
    fileprivate func word(_ place: Int, isLittle: Bool) -> Int? {
        guard place >= 0, place + 1 < count else { return nil }
        let (first, second) = (Int(self[place]), Int(self[place + 1]))
        return isLittle ? second << 8 | first : first << 8 | second
    }
}
