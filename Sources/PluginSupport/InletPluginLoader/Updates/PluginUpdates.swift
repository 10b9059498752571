import InletCore

/// How a source learns that its plug-in's files have changed, and the version that it then runs.
struct PluginUpdates: Sendable {
    /// The name and version of the running plug-in, for people.
    let version: String
    /// The manifest and the running code files.
    let running: [FileIdentity]
    /// Whether the source switches to a new version while it runs, instead of only when it is opened again.
    let isAutomatic: Bool
    /// Whether the source is closed before another one is opened: a camera serves one program at a time.
    let closesFirst: Bool
    /// How long files must stay unchanged before they are examined: writing them may not be finished.
    let settling: Duration
    /// Returns the current state of the same files; nil if one is missing.
    let files: @Sendable () -> [FileIdentity]?
    /// Reads the manifest, checks the files and probes the plug-in again. Blocks meanwhile.
    ///
    /// - Throws: the reason why the new version cannot replace the running one.
    let find: @Sendable () throws(InletError) -> PluginSourceConfiguration

    /// Whether the files differ from the running ones.
    var isOutdated: Bool { files() != running }
}
