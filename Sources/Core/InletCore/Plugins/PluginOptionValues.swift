/// The options of a URI, checked against those that its plug-in declares.
public struct PluginOptionValues: Sendable {
    private var texts: [String: String] = [:]
    /// The options that are not declared, in the order written, for a plug-in that accepts them: they belong to the
    /// address, to which ``PluginURI/address(_:_:)`` adds them. An option written `query.NAME-file` or `query.NAME-env`
    /// appears here as `query.NAME` with its value.
    public private(set) var others: [PluginURI.Option] = []

    /// - Parameters:
    ///   - uri: the URI, with options after its question mark.
    ///   - declared: the declared options.
    ///   - allowsOthers: whether options that are not declared go into ``others``. The default is false.
    ///   - access: the files and variables that may be read for options that refer to their value. The default is
    ///     ``LocalAccess/denied``.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if an option is not declared (the nearest name is suggested),
    ///   is given twice, has a value outside its type or range, or requests what `access` denies; the error with which
    ///   reading it failed.
    public init(
        _ uri: PluginURI, declared: [PluginOptionDescription], allowsOthers: Bool = false,
        access: LocalAccess = .denied
    ) throws(InletError) {
        let declared = declared.filter { $0.schemes?.contains(uri.scheme) ?? true }
        do throws(InletError) {
            for option in uri.options {
                if let (description, form) = Self.find(option.name, in: declared) {
                    try add(option, description, form, access)
                } else if allowsOthers {
                    others.append(try Self.forAddress(option, access))
                } else {
                    throw Self.error(Self.unknown(option.name, scheme: uri.scheme, declared: declared))
                }
            }
        } catch {
            throw error.about(uri.redacted(declared: declared))
        }
    }

    /// The value given, or the option's default.
    public subscript<Value: OptionValue>(option: PluginOption<Value>) -> Value {
        texts[option.name].flatMap { Value(optionText: $0) } ?? option.defaultValue
    }

    /// Returns the text given for an option that is only known by its description; nil if the URI does not give one.
    package func text(of option: PluginOptionDescription) -> String? { texts[option.name] }

    /// Returns the declared option that a name means, and the form in which the value is given.
    private static func find(
        _ name: String, in declared: [PluginOptionDescription]
    ) -> (PluginOptionDescription, SecretForm)? {
        if let description = declared.named(name) { return (description, .value) }
        for form in [SecretForm.file, .variable] where name.hasByteSuffix(form.suffix) {
            let base = Substring(name.utf8.dropLast(form.suffix.utf8.count))
            if let description = declared.secret(named: base) {
                return (description, form)
            }
        }
        return nil
    }

    private mutating func add(
        _ option: PluginURI.Option, _ description: PluginOptionDescription, _ form: SecretForm, _ access: LocalAccess
    ) throws(InletError) {
        guard !option.isBare else {
            throw Self.error("The option '\(option.name)' has no value. Write options as name=value, joined by &.")
        }
        guard texts[description.name] == nil else {
            throw Self.error("The option '\(description.name)' is given twice.")
        }
        if description.kind == .file { try access.checkPath(option: option.name) }
        let value = try form.resolve(option.value, option: option.name, access)
        guard description.isValid(value) else {
            let range = description.range.map { ", \($0)" } ?? ""
            let unit = description.unit.map { " (\($0))" } ?? ""
            let isHidden = description.kind == .secret || Redaction.isSecret(option.name)
            let shown = isHidden ? Redaction.mark : value
            throw Self.error(
                "The option \(option.name)=\(shown) is out of range: it takes \(description.type)\(range)\(unit).")
        }
        texts[description.name] = value
    }

    /// Handles an option that stays in the address. With the prefix `query.` it may refer to its value, as a declared
    /// secret may.
    private static func forAddress(
        _ option: PluginURI.Option, _ access: LocalAccess
    ) throws(InletError) -> PluginURI.Option {
        guard option.prefixCount > 0, !option.isBare,
            let form = [SecretForm.file, .variable].first(where: { option.name.hasByteSuffix($0.suffix) })
        else { return option }
        var other = option
        other.name = String(Substring(option.name.utf8.dropLast(form.suffix.utf8.count)))
        other.value = try form.resolve(option.value, option: option.name, access)
        other.text =
            PluginURI.Option.prefix + PercentEncoding.encode(other.addressName) + "="
            + PercentEncoding.encode(other.value)
        return other
    }

    private static func unknown(_ name: String, scheme: String, declared: [PluginOptionDescription]) -> String {
        if declared.isEmpty { return "\(scheme): takes no options, so not '\(name)' either." }
        let names = declared.flatMap { option in
            option.kind == .secret ? SecretForm.allCases.map { option.name + $0.suffix } : [option.name]
        }
        if let nearest = Spelling.nearest(to: name, among: names) {
            return "\(scheme): has no option '\(name)'. Did you mean '\(nearest)'?"
        }
        return "\(scheme): has no option '\(name)'. It takes \(declared.map(\.name).joined(separator: ", "))."
    }

    private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
}
