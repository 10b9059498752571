import InletCore

/// A manifest's file that was found, and the result of its checks, which run no code.
struct PluginCandidate: Sendable {
    /// The name of the plug-in, taken from the file name.
    let name: String
    /// The path of the manifest.
    let file: String
    /// The manifest, if it can be read.
    let manifest: PluginManifest?
    /// The plug-in, or the error in its files.
    let plugin: Result<DiscoveredPlugin, InletError>

    func offers(_ scheme: String, isSink: Bool) -> Bool {
        guard let manifest else { return false }
        return (isSink ? manifest.sinkSchemes : manifest.sourceSchemes).contains(scheme)
    }
}
