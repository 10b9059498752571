package import InletCore

/// An option of a URI, as a manifest declares it.
public struct PluginManifestOption: Sendable, Hashable {
    /// The name in a URI: lower-case letters, digits and hyphens.
    public let name: String
    /// The type of its values.
    public let type: PluginOptionType
    /// The value if a URI gives none, in canonical form; nil without a default.
    public let defaultValue: String?
    /// The least value in canonical form; nil without a limit.
    public let minimum: String?
    /// The greatest value in canonical form; nil without a limit.
    public let maximum: String?
    /// The words of a ``PluginOptionType/choice``; empty for other types.
    public let choices: [String]
    /// Whether Inlet creates the file of a ``PluginOptionType/path``, if it does not exist, before the plug-in runs.
    public let createsFile: Bool
    /// The unit of its numbers, such as `pixels`; nil if they have no unit.
    public let unit: String?
    /// A description of the option, in a phrase.
    public let summary: String

    /// Returns a value in the form that the plug-in gets, or nil if it is not of the type, not one of the choices or
    /// out of range.
    ///
    /// A boolean is `true` or `false`; a duration a whole number of nanoseconds followed by `ns`; a fraction is in
    /// lowest terms; a number has no plus sign and no superfluous zeros.
    public func canonical(_ text: String) -> String? {
        guard let value = type.canonical(text) else { return nil }
        if type == .choice, !choices.contains(where: { $0.isSameBytes(as: value) }) { return nil }
        if let minimum, !type.isOrdered(minimum, value) { return nil }
        if let maximum, !type.isOrdered(value, maximum) { return nil }
        return value
    }

    /// The range in words, such as `1 to 100`; nil if any value of the type is allowed.
    public var range: String? {
        switch (minimum.map(type.shown), maximum.map(type.shown)) {
        case (let least?, let greatest?): "\(least) to \(greatest)"
        case (let least?, nil): "\(least) or more"
        case (nil, let greatest?): "\(greatest) or less"
        case (nil, nil): nil
        }
    }

    /// The option in the form that listings and the check of a URI need.
    package func description(schemes: [String]) -> PluginOptionDescription {
        let kind: PluginOptionKind =
            switch type {
            case .secret: .secret
            case .path: .file
            case .text, .integer, .number, .boolean, .size, .rational, .duration, .choice: .value
            }
        return PluginOptionDescription(
            name: name, type: type == .choice ? choices.joined(separator: " | ") : type.listing,
            defaultValue: defaultValue.map(type.shown) ?? "", range: range, unit: unit, summary: summary, kind: kind,
            schemes: Set(schemes), isValid: { canonical($0) != nil })
    }
}
