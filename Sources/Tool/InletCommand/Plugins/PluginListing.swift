import Inlet

/// A registered or installed source or sink, as it appears in listings.
struct PluginListing: Encodable {
    let kind: String
    let name: String
    let schemes: [String]
    let summary: String
    let usage: String
    let options: [Option]
    let examples: [String]
    /// The details of an installed plug-in; nil for a registered one.
    let installed: Installed?

    /// An option in a listing.
    struct Option: Encodable {
        let name: String
        let type: String
        /// The default as text; nil without a default.
        let defaultValue: String?
        let range: String?
        let unit: String?
        let summary: String
        let isSecret: Bool
        let schemes: [String]?

        enum CodingKeys: String, CodingKey {
            case name, type, range, unit, summary, schemes
            case defaultValue = "default"
            case isSecret = "secret"
        }

        init(_ option: PluginOptionDescription) {
            name = option.name
            type = option.type
            defaultValue = option.defaultValue.isEmpty ? nil : option.defaultValue
            range = option.range
            unit = option.unit
            summary = option.summary
            isSecret = option.kind == .secret
            schemes = option.schemes?.sorted()
        }
    }

    /// The version, the code and the permissions of an installed plug-in.
    struct Installed: Encodable {
        let version: String
        let license: String
        /// The path of the manifest.
        let file: String
        /// The code that is run: a library, or a program with its arguments.
        let code: [String]
        /// Its permissions, in words.
        let permissions: [String]
        let memoryLimit: Int
    }

    init(kind: String, _ info: PluginInfo, installed: Installed? = nil) {
        self.kind = kind
        name = info.name
        schemes = info.schemes
        summary = info.summary
        usage = info.usage
        options = info.options.map(Option.init)
        examples = info.examples
        self.installed = installed
    }

    /// Every registered source and sink.
    static func registered(_ registry: PluginRegistry) -> [PluginListing] {
        registry.sources.map { PluginListing(kind: "source", $0.info) }
            + registry.sinks.map { PluginListing(kind: "sink", $0.info) }
    }

    /// The line of the list.
    var line: String {
        let names = schemes.map { "\($0):" }.joined(separator: " ")
        let origin = installed.map { " [\(name) \($0.version), \($0.file)]" } ?? ""
        return "\(kind.padded(to: 7)) \(names.padded(to: 12)) \(summary)\(origin)"
    }

    /// All details, for people.
    var text: String {
        var lines = ["\(kind) \(name): \(summary)", "", "  \(usage)", ""]
        if let installed {
            lines.append("  version \(installed.version), license \(installed.license)")
            lines.append("  manifest \(installed.file)")
            lines.append("  runs \(installed.code.joined(separator: " "))")
            lines += installed.permissions.map { "  \($0)" }
            lines += ["  may use \(installed.memoryLimit >> 20) MiB of memory", ""]
        }
        if options.isEmpty { lines.append("  takes no options") }
        let width = max(10, options.map(\.name.count).max() ?? 0)
        for option in options {
            lines.append("  \(option.name.padded(to: width)) \(option.summary)")
            lines.append("  \("".padded(to: width)) (\(facts(option).joined(separator: "; ")))")
        }
        if !examples.isEmpty { lines += ["", "  Examples:"] + examples.map { "    \($0)" } }
        return lines.joined(separator: "\n") + "\n"
    }

    private func facts(_ option: Option) -> [String] {
        var facts = [option.type]
        if option.isSecret { facts[0] += ", or \(option.name)-file=PATH, or \(option.name)-env=VARIABLE" }
        // An option of all schemes does not list them.
        if let only = option.schemes, only != schemes.sorted() {
            facts.append("\(only.joined(separator: ", ")) only")
        }
        if let range = option.range { facts.append(range) }
        if let unit = option.unit { facts.append("in \(unit)") }
        facts.append(option.defaultValue.map { "default \($0)" } ?? "no default")
        return facts
    }
}

extension PluginListing {
    /// The sources and sinks of an installed plug-in.
    static func installed(_ plugin: DiscoveredPlugin) -> [PluginListing] {
        let manifest = plugin.manifest
        let facts = Installed(
            version: manifest.version, license: manifest.license, file: plugin.file, code: plugin.codeWords,
            permissions: manifest.permissions.words, memoryLimit: plugin.program.memoryLimit)
        return plugin.sourcePlugins.map { PluginListing(kind: "source", $0.info, installed: facts) }
            + plugin.sinkPlugins.map { PluginListing(kind: "sink", $0.info, installed: facts) }
    }
}

extension String {
    /// Returns the text padded with spaces to a width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
