import ArgumentParser
import Inlet

struct PluginsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Lists the sources, sinks and decoders, or every option of one.",
        discussion: "Examples:\n\n  inlet plugins\n  inlet plugins pattern")

    @Argument(help: "A plug-in's name or scheme.")
    var name: String?

    func run() throws {
        let registry = InletTool.registry
        let all = registry.sources.map { ("source", $0.info) } + registry.sinks.map { ("sink", $0.info) }
        guard let name else {
            for decoder in registry.decoders {
                print("\("decoder".padded(to: 7)) \(decoder.name.padded(to: 12)) \(decoder.summary)")
            }
            for (kind, info) in all {
                let schemes = info.schemes.map { "\($0):" }.joined(separator: " ")
                print("\(kind.padded(to: 7)) \(schemes.padded(to: 12)) \(info.summary)")
            }
            return
        }
        let bare = name.hasByteSuffix(":") ? String(Substring(name.utf8.dropLast())) : name
        let found = all.filter { $0.1.name == bare || $0.1.schemes.contains(bare) }
        guard !found.isEmpty else {
            let known = all.flatMap { $0.1.schemes }
            let hint = Spelling.nearest(to: bare, among: known).map { " Did you mean '\($0)'?" } ?? ""
            throw InletError(
                .invalidConfiguration,
                "There is no plug-in '\(name)'.\(hint) Known are \(known.sorted().joined(separator: ", ")).")
        }
        for (kind, info) in found { describe(info, kind: kind) }
    }

    private func describe(_ info: PluginInfo, kind: String) {
        print("\(kind) \(info.name): \(info.summary)\n\n  \(info.usage)\n")
        if info.options.isEmpty { print("  takes no options") }
        let width = max(10, info.options.map(\.name.count).max() ?? 0)
        for option in info.options {
            var facts = [option.type]
            if option.kind == .secret { facts[0] += ", or \(option.name)-file=PATH, or \(option.name)-env=VARIABLE" }
            if let schemes = option.schemes { facts.append("\(schemes.sorted().joined(separator: ", ")) only") }
            if let range = option.range { facts.append(range) }
            if let unit = option.unit { facts.append("in \(unit)") }
            facts.append(option.defaultValue.isEmpty ? "no default" : "default \(option.defaultValue)")
            print(
                "  \(option.name.padded(to: width)) \(option.summary)\n  \("".padded(to: width)) (\(facts.joined(separator: "; ")))"
            )
        }
        if !info.examples.isEmpty {
            print("\n  Examples:\n" + info.examples.map { "    \($0)" }.joined(separator: "\n"))
        }
        print("")
    }
}

extension String {
    /// Returns the text padded with spaces to a width.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
