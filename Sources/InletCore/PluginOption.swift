/// An option that a plug-in declares: its name, type, default, range and unit, and the key to read it by.
///
///     static let size = PluginOption("size", default: ImageSize(width: 1280, height: 720), "Picture size", unit: "pixels")
///     let size = values[Self.size]
public struct PluginOption<Value: OptionValue>: Sendable {
    /// The option's name in a URI.
    public let name: String
    /// Its value where the URI does not give one.
    public let defaultValue: Value
    /// What it does, in a phrase.
    public let summary: String
    /// What its numbers count, such as `pixels`; nil where there is nothing to say.
    public let unit: String?
    /// The allowed range in words, such as `16x16 to 8192x8192`.
    public let range: String?
    let isAllowed: @Sendable (Value) -> Bool

    /// An option that takes any value of its type.
    public init(_ name: String, default defaultValue: Value, _ summary: String, unit: String? = nil) {
        self.init(name, default: defaultValue, summary, unit: unit, range: nil) { _ in true }
    }

    /// An option whose values are checked.
    ///
    /// - Parameter range: the allowed values in words, for errors and listings.
    public init(
        _ name: String, default defaultValue: Value, _ summary: String, unit: String? = nil, range: String?,
        isAllowed: @escaping @Sendable (Value) -> Bool
    ) {
        self.name = name
        self.defaultValue = defaultValue
        self.summary = summary
        self.unit = unit
        self.range = range
        self.isAllowed = isAllowed
    }

    /// What a listing shows of it.
    public var description: PluginOptionDescription {
        PluginOptionDescription(
            name: name, type: Value.typeDescription, defaultValue: defaultValue.optionText, range: range, unit: unit,
            summary: summary, isValid: { text in Value(optionText: text).map(isAllowed) ?? false })
    }
}

extension PluginOption where Value: Comparable {
    /// An option with a least and a greatest value.
    public init(
        _ name: String, default defaultValue: Value, in bounds: ClosedRange<Value>, _ summary: String,
        unit: String? = nil
    ) {
        let range = "\(bounds.lowerBound.optionText) to \(bounds.upperBound.optionText)"
        self.init(name, default: defaultValue, summary, unit: unit, range: range) {
            bounds.lowerBound <= $0 && $0 <= bounds.upperBound
        }
    }
}

extension PluginOption where Value == ImageSize {
    /// An option with a least and a greatest size, which bound width and height each on its own.
    public init(
        _ name: String, default defaultValue: ImageSize, in bounds: ClosedRange<ImageSize>, _ summary: String,
        unit: String? = nil
    ) {
        let (least, greatest) = (bounds.lowerBound, bounds.upperBound)
        self.init(name, default: defaultValue, summary, unit: unit, range: "\(least) to \(greatest)") {
            least.fits(in: $0) && $0.fits(in: greatest)
        }
    }
}

/// An option without its static type, for listings and checks.
public struct PluginOptionDescription: Sendable {
    /// The option's name in a URI.
    public let name: String
    /// What may be written, such as `integer` or `smpte | ball | noise`.
    public let type: String
    /// Empty where there is no default.
    public let defaultValue: String
    /// The allowed range in words; nil where any value of the type will do.
    public let range: String?
    /// What its numbers count, such as `pixels`; nil where there is nothing to say.
    public let unit: String?
    /// What it does, in a phrase.
    public let summary: String
    let isValid: @Sendable (String) -> Bool
}

/// The options of a URI, checked against those that its plug-in declares.
public struct PluginOptionValues: Sendable {
    private var texts: [String: String] = [:]

    /// - Parameter allowsOthers: options that are not declared are left alone.
    /// - Throws: ``InletError/Code/invalidConfiguration`` where an option is not declared (the nearest name is suggested), is
    ///   given twice, or has a value outside its type or range.
    public init(
        _ uri: PluginURI, declared: [PluginOptionDescription], allowsOthers: Bool = false
    ) throws(InletError) {
        for option in uri.options {
            guard let description = declared.first(where: { $0.name == option.name }) else {
                if allowsOthers { continue }
                throw InletError(
                    .invalidConfiguration,
                    Self.unknown(option.name, scheme: uri.scheme, names: declared.map(\.name)),
                    context: .init(subject: uri.redacted))
            }
            guard !option.isBare else {
                throw InletError(
                    .invalidConfiguration,
                    "The option '\(option.name)' has no value. Write options as name=value, joined by &.",
                    context: .init(subject: uri.redacted))
            }
            guard texts[option.name] == nil else {
                throw InletError(
                    .invalidConfiguration, "The option '\(option.name)' is given twice.",
                    context: .init(subject: uri.redacted))
            }
            guard description.isValid(option.value) else {
                let range = description.range.map { ", \($0)" } ?? ""
                let unit = description.unit.map { " (\($0))" } ?? ""
                let value = Redaction.isSecret(option.name) ? Redaction.mark : option.value
                throw InletError(
                    .invalidConfiguration,
                    "The option \(option.name)=\(value) is out of range: it takes \(description.type)\(range)\(unit).",
                    context: .init(subject: uri.redacted))
            }
            texts[option.name] = option.value
        }
    }

    /// The value given, or the option's default.
    public subscript<Value: OptionValue>(option: PluginOption<Value>) -> Value {
        texts[option.name].flatMap { Value(optionText: $0) } ?? option.defaultValue
    }

    private static func unknown(_ name: String, scheme: String, names: [String]) -> String {
        if names.isEmpty { return "\(scheme): takes no options, so not '\(name)' either." }
        if let nearest = Spelling.nearest(to: name, among: names) {
            return "\(scheme): has no option '\(name)'. Did you mean '\(nearest)'?"
        }
        return "\(scheme): has no option '\(name)'. It takes \(names.joined(separator: ", "))."
    }
}
