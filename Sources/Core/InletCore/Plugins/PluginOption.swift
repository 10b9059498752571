/// An option that a plug-in declares: its name, type, default, range and unit, and the key by which to read it.
///
///     static let width = PluginOption("width", default: 1280, "Picture width", unit: "pixels")
///     static let token = PluginOption.secret("token", "What everyone must show")
///     let (width, token) = (values[Self.width], values[Self.token])
public struct PluginOption<Value: OptionValue>: Sendable {
    /// The option's name in a URI.
    public let name: String
    /// The value if the URI does not give one.
    public let defaultValue: Value
    /// The purpose of the option, in a phrase.
    public let summary: String
    /// The unit of its numbers, such as `pixels`; nil if they have no unit.
    public let unit: String?
    /// The allowed range in words, such as `16x16 to 8192x8192`.
    public let range: String?
    /// The kind of its text: the value, a secret, or the path of a file.
    public private(set) var kind = PluginOptionKind.value
    /// The schemes of the plug-in that have the option. The default, nil, means all of them.
    public private(set) var schemes: Set<String>?
    /// Former names, which are still accepted, so that existing URIs keep working. Empty by default.
    public private(set) var formerNames: Set<String> = []
    let isAllowed: @Sendable (Value) -> Bool

    /// Makes an option that takes any value of its type.
    public init(_ name: String, default defaultValue: Value, _ summary: String, unit: String? = nil) {
        self.init(name, default: defaultValue, summary, unit: unit, range: nil) { _ in true }
    }

    /// Makes an option whose values are checked.
    ///
    /// - Parameters:
    ///   - name: the name in a URI.
    ///   - defaultValue: the value if the URI gives none.
    ///   - summary: what it does, in a phrase.
    ///   - unit: the unit of its numbers. The default is nil.
    ///   - range: the allowed values in words, for errors and listings.
    ///   - isAllowed: whether a value of the type is allowed.
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

    /// The option as a listing shows it.
    public var description: PluginOptionDescription {
        PluginOptionDescription(
            name: name, type: Value.typeDescription, defaultValue: defaultValue.optionText, range: range, unit: unit,
            summary: summary, kind: kind, schemes: schemes, formerNames: formerNames,
            isValid: { text in Value(optionText: text).map(isAllowed) ?? false })
    }

    /// Returns the option restricted to some of the plug-in's schemes: with another one it is unknown, or stays in the
    /// address.
    public func only(for schemes: String...) -> Self {
        var option = self
        option.schemes = Set(schemes)
        return option
    }

    /// Returns the option with former names. They mean the same, even if undeclared options belong to the address, and
    /// no listing shows them.
    public func formerly(_ names: String...) -> Self {
        var option = self
        option.formerNames = Set(names)
        return option
    }
}

extension PluginOption where Value == String? {
    /// Makes an option for a secret, such as a password or a token. It has no default.
    ///
    /// A URI gives it in one of three forms, of which the plug-in sees only the value: `NAME=VALUE`, `NAME-file=PATH`
    /// for the content of a file, and `NAME-env=VARIABLE` for an environment variable. A registry whose
    /// ``PluginRegistry/localAccess`` is ``LocalAccess/denied`` refuses the last two.
    public static func secret(_ name: String, _ summary: String) -> PluginOption {
        var option = PluginOption(name, default: nil, summary)
        option.kind = .secret
        return option
    }

    /// Makes an option for the path of a file that the plug-in reads. It has no default.
    ///
    /// A registry whose ``PluginRegistry/localAccess`` is ``LocalAccess/denied`` refuses it.
    public static func file(_ name: String, _ summary: String) -> PluginOption {
        var option = PluginOption(name, default: nil, summary)
        option.kind = .file
        return option
    }
}

extension PluginOption where Value: Comparable {
    /// Makes an option with a least and a greatest value.
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
    /// Makes an option with a least and a greatest size, which bound width and height separately.
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
