/// A type that a plug-in's option can have: it is read from text and written back.
public protocol OptionValue: Sendable {
    /// Reads the value, or returns nil if the text is not one.
    init?(optionText: String)
    /// The value as it would be written in a URI.
    var optionText: String { get }
    /// The name of the type in `inlet plugins`, such as `integer` or `smpte | ball | noise`.
    static var typeDescription: String { get }
}

extension String: OptionValue {
    public init?(optionText: String) { self = optionText }
    public var optionText: String { self }
    public static var typeDescription: String { "text" }
}

extension Bool: OptionValue {
    public init?(optionText: String) {
        switch optionText.lowercasedASCII {
        case "true", "yes", "on", "1": self = true
        case "false", "no", "off", "0": self = false
        default: return nil
        }
    }
    public var optionText: String { self ? "true" : "false" }
    public static var typeDescription: String { "true | false" }
}

extension Int: OptionValue {
    public init?(optionText: String) { self.init(optionText) }
    public var optionText: String { String(self) }
    public static var typeDescription: String { "integer" }
}

extension UInt64: OptionValue {
    public init?(optionText: String) { self.init(optionText) }
    public var optionText: String { String(self) }
    public static var typeDescription: String { "integer" }
}

extension Double: OptionValue {
    public init?(optionText: String) {
        guard let value = Double(optionText), value.isFinite else { return nil }
        self = value
    }
    public var optionText: String { String(self) }
    public static var typeDescription: String { "number" }
}

extension ImageSize: OptionValue, Comparable {
    /// Reads `1280x720`.
    public init?(optionText: String) {
        let parts = optionText.lowercasedASCII.split(atByte: "x")
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else { return nil }
        self.init(width: width, height: height)
    }
    public var optionText: String { description }
    public static var typeDescription: String { "WIDTHxHEIGHT" }

    /// Returns whether the left is narrower, or as wide and lower: an order for lists. Whether one picture fits into
    /// another is ``fits(in:)``.
    public static func < (left: ImageSize, right: ImageSize) -> Bool {
        (left.width, left.height) < (right.width, right.height)
    }
}

extension ImageRect: OptionValue {
    /// Reads `1280x720+100+50`: the size, and the distances from the left and from the top.
    public init?(optionText: String) {
        let parts = optionText.split(atByte: "+")
        guard parts.count == 3, let size = ImageSize(optionText: String(parts[0])), let x = Int(parts[1]),
            let y = Int(parts[2])
        else { return nil }
        self.init(x: x, y: y, size: size)
    }
    public var optionText: String { description }
    public static var typeDescription: String { "WIDTHxHEIGHT+X+Y" }
}

extension Rational: OptionValue {
    /// Reads `25`, `30000/1001` or a decimal such as `29.97`.
    public init?(optionText: String) {
        let parts = optionText.split(atByte: "/")
        switch parts.count {
        case 2:
            guard let numerator = Int(parts[0]), let denominator = Int(parts[1]) else { return nil }
            self.init(exactly: numerator, over: denominator)
        case 1:
            if let whole = Int(optionText) {
                self.init(exactly: whole, over: 1)
            } else {
                let decimals = optionText.split(atByte: ".")
                guard decimals.count == 2, decimals[1].utf8.count <= 6, decimals[1].utf8.allSatisfy(\.isASCIIDigit),
                    let digits = Int(decimals[0] + decimals[1])
                else { return nil }
                let scale = decimals[1].utf8.reduce(1) { power, _ in power * 10 }
                self.init(exactly: digits, over: scale)
            }
        default: return nil
        }
    }
    public var optionText: String { description }
    public static var typeDescription: String { "NUMBER or NUMBER/NUMBER" }
}

extension Duration: OptionValue {
    /// Reads `5s`, `200ms`, `1.5s`, `10us`, `2m`, `1h`; a bare number is in seconds.
    public init?(optionText: String) {
        let units: [(String, Double)] = [
            ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1), ("m", 60), ("h", 3600), ("", 1),
        ]
        for (suffix, scale) in units where optionText.hasByteSuffix(suffix) {
            let text = Substring(optionText.utf8.dropLast(suffix.utf8.count))
            guard let number = Double(text), number.isFinite, abs(number * scale) < 1e9
            else { return nil }
            self = .nanoseconds(Int64((number * scale * 1e9).rounded()))
            return
        }
        return nil
    }

    public var optionText: String {
        let nanoseconds = wholeNanoseconds
        for (unit, suffix) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] as [(Int64, String)]
        where nanoseconds % unit == 0 {
            return "\(nanoseconds / unit)\(suffix)"
        }
        return "\(nanoseconds)ns"
    }
    public static var typeDescription: String { "TIME such as 5s or 200ms" }
}

extension Optional: OptionValue where Wrapped: OptionValue {
    public init?(optionText: String) {
        guard let value = Wrapped(optionText: optionText) else { return nil }
        self = .some(value)
    }
    public var optionText: String { self?.optionText ?? "" }
    public static var typeDescription: String { Wrapped.typeDescription }
}

extension SourcePacing: ChoiceOptionValue {}

extension EncoderSettings.Preset: ChoiceOptionValue {}
