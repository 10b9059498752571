import InletCore

/// How a source learns that its plug-in's files have changed, and what it runs then.
struct PluginUpdates: Sendable {
    /// The name and version of the plug-in that runs, for people.
    let version: String
    /// The manifest and the files with the code that runs.
    let running: [FileIdentity]
    /// Whether a new version is taken over while the source runs, and not when it is opened again only.
    let isAutomatic: Bool
    /// Whether the source is closed before another one is opened: a camera serves one program at a time.
    let closesFirst: Bool
    /// How long files must stay as they are before they are examined: whoever writes them may not be done.
    let settling: Duration
    /// Returns the same files as they are now; nil if one is missing.
    let files: @Sendable () -> [FileIdentity]?
    /// Reads the manifest, checks the files and probes the plug-in anew. Blocks for as long as that takes.
    ///
    /// - Throws: the reason why the new version cannot take the place of the one that runs.
    let find: @Sendable () throws(InletError) -> PluginSourceConfiguration

    /// Whether the files are no longer those that run.
    var isOutdated: Bool { files() != running }
}
