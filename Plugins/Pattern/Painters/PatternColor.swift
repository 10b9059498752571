public import InletCore

/// The colour of `pattern:solid`.
public enum PatternColor: Sendable, Hashable {
    /// The literal bytes of the three planes, even if they are out of the legal range.
    case yuv(y: UInt8, u: UInt8, v: UInt8)
    /// Red, green and blue from 0 to 255, converted to limited-range YUV with the matrix for the picture's size.
    case rgb(red: UInt8, green: UInt8, blue: UInt8)

    func yuv(matrix: ColorMatrix) -> YUVColor {
        switch self {
        case .yuv(let y, let u, let v): YUVColor(y: y, u: u, v: v)
        case .rgb(let red, let green, let blue):
            YUVColor(
                red: Double(red) / 255, green: Double(green) / 255, blue: Double(blue) / 255, matrix: matrix)
        }
    }
}

extension PatternColor: OptionValue {
    /// Reads `126,128,128` or `#RRGGBB`.
    public init?(optionText: String) {
        if optionText.hasBytePrefix("#") {
            let digits = optionText.utf8.dropFirst().map(\.hexadecimalValue)
            guard digits.count == 6, !digits.contains(nil) else { return nil }
            let value = digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1 ?? 0) }
            self = .rgb(
                red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
                blue: UInt8(truncatingIfNeeded: value))
        } else {
            let parts = optionText.split(atByte: ",")
            guard parts.count == 3, let y = UInt8(parts[0]), let u = UInt8(parts[1]), let v = UInt8(parts[2]) else {
                return nil
            }
            self = .yuv(y: y, u: u, v: v)
        }
    }

    public var optionText: String {
        switch self {
        case .yuv(let y, let u, let v): "\(y),\(u),\(v)"
        case .rgb(let red, let green, let blue): "#" + [red, green, blue].map(Self.hexadecimal).joined()
        }
    }

    public static var typeDescription: String { "Y,U,V or #RRGGBB" }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
