import InletCore

/// A manifest's file that was found, and what became of it without running any code.
struct PluginCandidate: Sendable {
    /// The name of the plug-in, as the file is called.
    let name: String
    /// The path of the manifest.
    let file: String
    /// What the manifest says, if it can be read.
    let manifest: PluginManifest?
    /// The plug-in, unless something is wrong with its files.
    let plugin: Result<DiscoveredPlugin, InletError>

    func offers(_ scheme: String, isSink: Bool) -> Bool {
        guard let manifest else { return false }
        return (isSink ? manifest.sinkSchemes : manifest.sourceSchemes).contains(scheme)
    }
}
