import ArgumentParser
import Inlet

/// The options of commands that open sources and sinks, for installed plug-ins.
struct InstalledPluginOptions: ParsableArguments {
    /// A layer of the sandbox that a plug-in runs without.
    struct WithoutLayer: Sendable {
        let plugin: String
        let layer: String

        init(_ text: String) throws {
            let parts = text.split(atByte: ":")
            let layers = PluginDiscovery.layers
            guard parts.count == 2, !parts[0].isEmpty, layers.contains(String(parts[1])) else {
                throw ValidationError(
                    "--plugin-without takes NAME:LAYER, LAYER being one of \(layers.sorted().joined(separator: ", ")), not '\(text)'."
                )
            }
            (plugin, layer) = (String(parts[0]), String(parts[1]))
        }
    }

    @Option(
        name: .customLong("in-process"),
        help: ArgumentHelp(
            """
            Load the installed plug-in NAME into this process instead of a sandboxed one: it can then do whatever \
            you can, and a crash in it ends the command. May be given several times.
            """, valueName: "name"))
    var inProcess: [String] = []

    @Option(
        name: .customLong("plugin-without"),
        help: ArgumentHelp(
            """
            Run the installed plug-in NAME without LAYER of its sandbox: landlock, seccomp or limits. For a kernel \
            that lacks it; otherwise a missing layer is an error. May be given several times.
            """, valueName: "name:layer"), transform: { try WithoutLayer($0) })
    var without: [WithoutLayer] = []

    /// When a running source switches to a new version of its plug-in.
    enum Updates: String, ExpressibleByArgument, CaseIterable { case automatic, off }

    @Option(
        name: .customLong("plugin-updates"),
        help: ArgumentHelp(
            """
            When a source switches to a new version of its plug-in: while it runs, once the files are replaced and \
            pass all checks (automatic), or when it is reopened (off).
            """))
    var updates = Updates.automatic

    @Option(
        name: .customLong("plugin-host"), help: .hidden)
    var hostPath: String?

    /// Whether any of these options was given.
    var isGiven: Bool { !inProcess.isEmpty || !without.isEmpty || updates == .off || hostPath != nil }

    /// The settings for finding and running installed plug-ins.
    var discovery: PluginDiscovery {
        var discovery = PluginDiscovery()
        discovery.inProcess = Set(inProcess)
        for choice in without { discovery.withoutLayers[choice.plugin, default: []].insert(choice.layer) }
        discovery.takesUpdates = updates == .automatic
        discovery.hostPath = hostPath
        return discovery
    }
}
