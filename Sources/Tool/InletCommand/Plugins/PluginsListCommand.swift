import ArgumentParser
import Inlet

/// Lists the plug-ins, or describes one.
struct PluginsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Lists the sources, sinks and decoders, or every option of one.",
        discussion: "Each installed plug-in is started once, in its sandbox, to check that it works.")

    @Argument(help: "A plug-in's name or scheme.")
    var name: String?

    @Flag(help: "Print JSON instead of text: one object with all plug-ins, or an array of those that NAME matches.")
    var json = false

    @OptionGroup var plugins: InstalledPluginOptions

    func run() throws {
        let registry = InletTool.registry
        let registered = PluginListing.registered(registry)
        if let name {
            let bare = name.hasByteSuffix(":") ? String(Substring(name.utf8.dropLast())) : name
            var found = registered.filter { $0.isMeant(by: bare) }
            var known = registered.flatMap(\.schemes)
            if found.isEmpty { (found, known) = try installed(bare, known: known) }
            guard !found.isEmpty else { throw Self.unknown(name, bare, known) }
            if json { return print(try PluginsCommand.json(found)) }
            for listing in found { print(listing.text) }
        } else {
            try list(registered, registry)
        }
    }

    private static func unknown(_ name: String, _ bare: String, _ known: [String]) -> InletError {
        let hint = Spelling.nearest(to: bare, among: known).map { " Did you mean '\($0)'?" } ?? ""
        return InletError(
            .invalidConfiguration,
            "There is no plug-in '\(name)'.\(hint) Known plug-ins are \(Set(known).sorted().joined(separator: ", ")).")
    }

    /// A decoder in the JSON output.
    private struct Decoder: Encodable {
        let name: String
        let summary: String
    }

    /// Returns the installed plug-ins for a name that no registered plug-in has, and the known names.
    private func installed(_ name: String, known: [String]) throws -> ([PluginListing], [String]) {
        let inventory = plugins.discovery.inventory(reserved: InletTool.registry.schemes)
        let listings = inventory.plugins.flatMap(PluginListing.installed)
        let found = listings.filter { $0.isMeant(by: name) }
        if found.isEmpty, let broken = inventory.broken.first(where: { $0.name == name }) {
            throw broken.error
        }
        return (found, known + listings.flatMap { $0.schemes + [$0.name] } + inventory.broken.map(\.name))
    }

    /// The complete JSON output.
    private struct Everything: Encodable {
        let decoders: [Decoder]
        let plugins: [PluginListing]
        let broken: [Broken]
        let shadowed: [Shadowed]
        let conflicts: [Conflict]
        let folders: [PluginsPathCommand.Listing]
    }

    /// An unusable plug-in, in the JSON output.
    private struct Broken: Encodable {
        let name: String
        let file: String
        let code: String
        let reason: String
    }

    /// An unused manifest, in the JSON output.
    private struct Shadowed: Encodable {
        let name: String
        let file: String
        let usedFile: String
    }

    /// A scheme that no plug-in gets, in the JSON output.
    private struct Conflict: Encodable {
        let scheme: String
        let kind: String
        let plugins: [String]
        let explanation: String
    }

    private func list(_ registered: [PluginListing], _ registry: PluginRegistry) throws {
        let inventory = plugins.discovery.inventory(reserved: registry.schemes)
        let listings = registered + inventory.plugins.flatMap(PluginListing.installed)
        guard !json else { return print(try PluginsCommand.json(everything(listings, inventory, registry))) }
        printDecoders(registry)
        for listing in listings { print(listing.line) }
        for conflict in inventory.conflicts { print("\("scheme".padded(to: 7)) \(conflict.explanation)") }
        for other in inventory.shadowed {
            print("\("unused".padded(to: 7)) \(other.file): \(other.usedFile) has the same name and is used.")
        }
        for case (let path, .refused(let reason)) in inventory.folders.map({ ($0.path, $0.state) }) {
            print("\("folder".padded(to: 7)) \(path) is not searched: \(reason)")
        }
        for broken in inventory.broken {
            print(
                "\("broken".padded(to: 7)) \(broken.name.padded(to: 12)) \(broken.file): \(broken.reason.message)")
        }
    }

    private func everything(
        _ listings: [PluginListing], _ inventory: PluginInventory, _ registry: PluginRegistry
    ) -> Everything {
        Everything(
            decoders: registry.decoders.map { Decoder(name: $0.name, summary: $0.summary) }, plugins: listings,
            broken: inventory.broken.map {
                Broken(
                    name: $0.name, file: $0.file, code: $0.reason.code.description, reason: $0.reason.message)
            },
            shadowed: inventory.shadowed.map { Shadowed(name: $0.name, file: $0.file, usedFile: $0.usedFile) },
            conflicts: inventory.conflicts.map {
                Conflict(
                    scheme: $0.scheme, kind: $0.isSink ? "sink" : "source", plugins: $0.plugins,
                    explanation: $0.explanation)
            },
            folders: inventory.folders.map(PluginsPathCommand.Listing.init))
    }

    private func printDecoders(_ registry: PluginRegistry) {
        for decoder in registry.decoders {
            print("\("decoder".padded(to: 7)) \(decoder.name.padded(to: 12)) \(decoder.summary)")
        }
    }
}

extension PluginListing {
    /// Whether a name or scheme refers to this plug-in.
    fileprivate func isMeant(by text: String) -> Bool { name == text || schemes.contains(text) }
}
