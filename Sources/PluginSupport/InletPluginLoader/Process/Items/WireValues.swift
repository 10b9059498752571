import CInletPlugin
import InletCore
import InletPluginIPC

/// Checks the numbers and words in a plug-in's statements.
enum WireValues {
    /// The largest width and height of a picture.
    static let largestDimension: UInt32 = 16_384

    /// Returns a fraction that is greater than zero; nil if it is unknown.
    static func ratio(_ ratio: inlet_rational, _ name: String) throws(PluginLie) -> Rational? {
        if ratio.denominator == 0 || ratio.numerator == 0 { return nil }
        guard ratio.numerator > 0, ratio.denominator > 0 else {
            throw PluginLie("stated a \(name) of \(ratio.numerator)/\(ratio.denominator)")
        }
        return Rational(Int(ratio.numerator), Int(ratio.denominator))
    }

    /// Returns a fraction in the form of C; 0/0 for nil, and for one that does not fit.
    static func ratio(_ ratio: Rational?) -> inlet_rational {
        guard let ratio, let numerator = Int32(exactly: ratio.numerator),
            let denominator = Int32(exactly: ratio.denominator)
        else { return inlet_rational(numerator: 0, denominator: 0) }
        return inlet_rational(numerator: numerator, denominator: denominator)
    }

    /// Returns a size.
    static func size(_ width: UInt32, _ height: UInt32) throws(PluginLie) -> ImageSize {
        guard (1...largestDimension).contains(width), (1...largestDimension).contains(height) else {
            throw PluginLie("stated a picture of \(width)x\(height) pixels")
        }
        return ImageSize(width: Int(width), height: Int(height))
    }

    /// Returns a rotation.
    static func rotation(_ degrees: UInt32) throws(PluginLie) -> Rotation {
        guard let rotation = Rotation(rawValue: Int(degrees)) else {
            throw PluginLie("stated a rotation of \(degrees) degrees")
        }
        return rotation
    }

    /// Returns a colour space; nil if the plug-in filled in none.
    static func color(_ color: inlet_color) throws(PluginLie) -> ColorSpace? {
        // The greatest codes of ITU-T H.273 (07/2024), tables 2 to 4.
        guard color.primaries <= 22, color.transfer <= 18, color.matrix <= 17, color.range <= 2 else {
            throw PluginLie(
                "stated the unknown colour \(color.primaries), \(color.transfer), \(color.matrix), \(color.range)")
        }
        // Zero is reserved in the first two tables.
        if color.primaries == 0, color.transfer == 0, color.matrix == 0, color.range == 0 { return nil }
        return ColorSpace(
            primaries: .init(rawValue: color.primaries == 0 ? 2 : color.primaries),
            transfer: .init(rawValue: color.transfer == 0 ? 2 : color.transfer),
            matrix: .init(rawValue: color.primaries == 0 && color.matrix == 0 ? 2 : color.matrix),
            range: color.range == 1 ? .limited : color.range == 2 ? .full : .unspecified)
    }

    /// Returns a colour space in the form of C.
    static func color(_ color: ColorSpace) -> inlet_color {
        inlet_color(
            primaries: color.primaries.rawValue, transfer: color.transfer.rawValue, matrix: color.matrix.rawValue,
            range: color.range == .limited ? 1 : color.range == .full ? 2 : 0)
    }

    /// Returns a name of FFmpeg's; nil for an empty one.
    static func name<Storage: BitwiseCopyable>(_ storage: Storage, _ kind: String) throws(PluginLie) -> String? {
        let bytes = FixedText.bytes(storage)
        guard !bytes.isEmpty else { return nil }
        let isName = bytes.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
        guard bytes.count < MemoryLayout<Storage>.size, isName, let name = String(validating: bytes, as: UTF8.self)
        else { throw PluginLie("stated a \(kind) whose name is not 1 to 23 letters and digits") }
        return name
    }

    /// Returns a number of ticks, or of nanoseconds, that is not negative; nil for zero.
    static func duration(_ ticks: Int64) throws(PluginLie) -> Int64? {
        guard ticks >= 0 else { throw PluginLie("stated a duration of \(ticks) ticks") }
        return ticks == 0 ? nil : ticks
    }
}
