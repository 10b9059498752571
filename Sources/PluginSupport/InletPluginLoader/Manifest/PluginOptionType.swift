import InletCore

/// The type of an option that a manifest declares.
public enum PluginOptionType: String, Sendable, Hashable, CaseIterable {
    /// Any text.
    case text
    /// A whole number of 64 bits with a sign.
    case integer
    /// A finite number.
    case number
    /// Yes or no.
    case boolean
    /// A width and a height, such as `1280x720`.
    case size
    /// A fraction of whole numbers of 32 bits, such as `30000/1001`.
    case rational
    /// A length of time, such as `5s` or `200ms`.
    case duration
    /// One of several words.
    case choice
    /// A password or token, which is never shown.
    case secret
    /// The path of a file or folder.
    case path

    /// The longest value in bytes. A secret may be as long as ``LocalAccess`` reads one.
    package static let longestValue = LocalAccess.longestSecret

    /// The name of the type in `inlet plugins`.
    var listing: String {
        switch self {
        case .text, .choice, .secret, .path: String.typeDescription
        case .integer: Int.typeDescription
        case .number: Double.typeDescription
        case .boolean: Bool.typeDescription
        case .size: ImageSize.typeDescription
        case .rational: Rational.typeDescription
        case .duration: Duration.typeDescription
        }
    }

    /// How a manifest writes a value of the type, in words.
    var advice: String {
        switch self {
        case .text, .secret, .path: "text in quotation marks"
        case .integer: "a whole number such as 8, without quotation marks"
        case .number: "a number such as 0.5, without quotation marks"
        case .boolean: "true or false, without quotation marks"
        case .size: "a size such as \"1280x720\""
        case .rational: "a fraction such as \"30000/1001\", or a whole number"
        case .duration: "a time such as \"5s\" or \"200ms\""
        case .choice: "one of its choices"
        }
    }

    /// Whether values have an order, so that a least and a greatest one can be given.
    var isOrdered: Bool {
        switch self {
        case .integer, .number, .size, .rational, .duration: true
        case .text, .boolean, .choice, .secret, .path: false
        }
    }

    /// Returns a value in the canonical form that a plug-in gets, or nil if the text is not of the type.
    ///
    /// A boolean is `true` or `false`, a duration a whole number of nanoseconds followed by `ns`, a fraction in lowest
    /// terms; numbers are written in decimal without a plus sign.
    func canonical(_ text: String) -> String? {
        guard text.utf8.count <= Self.longestValue, !text.utf8.contains(0) else { return nil }
        return switch self {
        case .text, .choice, .secret, .path: text
        case .integer: Int64(text).map { String($0) }
        case .number: Double(optionText: text).map(\.optionText)
        case .boolean: Bool(optionText: text).map(\.optionText)
        case .size: ImageSize(optionText: text).flatMap { $0.isValid ? $0.optionText : nil }
        case .rational: Rational(optionText: text).map(\.optionText)
        case .duration: Duration(optionText: text).map { "\($0.wholeNanoseconds)ns" }
        }
    }

    /// Returns whether one value is not greater than another, both being valid. For sizes, whether one fits in the
    /// other.
    func isOrdered(_ left: String, _ right: String) -> Bool {
        switch self {
        case .integer: return Self.compare(Int(left), Int(right))
        case .number: return Self.compare(Double(left), Double(right))
        case .rational: return Self.compare(Rational(optionText: left), Rational(optionText: right))
        case .duration: return Self.compare(Duration(optionText: left), Duration(optionText: right))
        case .size:
            guard let left = ImageSize(optionText: left), let right = ImageSize(optionText: right) else { return false }
            return left.fits(in: right)
        case .text, .boolean, .choice, .secret, .path: return true
        }
    }

    private static func compare<Value: Comparable>(_ left: Value?, _ right: Value?) -> Bool {
        guard let left, let right else { return false }
        return left <= right
    }

    /// Returns a canonical value as people write it.
    func shown(_ canonical: String) -> String {
        self == .duration ? Duration(optionText: canonical)?.optionText ?? canonical : canonical
    }
}
