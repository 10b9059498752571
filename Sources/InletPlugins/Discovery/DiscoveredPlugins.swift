public import InletCore

/// Gives a registry the plug-ins that are installed on the machine.
///
/// Nothing is looked for before the registry meets a scheme that none of its own plug-ins has. Every such URI has the
/// folders searched anew, so that a process that runs for long takes new plug-ins and new versions; only the plug-in
/// that is needed is probed. A source goes over to a new version while it runs (``PluginDiscovery/takesUpdates``).
public struct DiscoveredPlugins: PluginFinder {
    /// Where and how plug-ins are looked for.
    public let discovery: PluginDiscovery

    /// Makes a finder, and looks for nothing yet.
    public init(_ discovery: PluginDiscovery = PluginDiscovery()) { self.discovery = discovery }

    /// Returns the source of the one plug-in that offers a scheme, after probing it where that has not been done.
    public func source(scheme: String) throws(InletError) -> SourcePlugin? {
        try discovery.plugin(scheme: scheme, isSink: false)?.sourcePlugins(updatedBy: discovery)
            .first { $0.info.schemes.contains(scheme) }
    }

    /// Returns the sink of the one plug-in that offers a scheme, as ``source(scheme:)``.
    public func sink(scheme: String) throws(InletError) -> SinkPlugin? {
        try discovery.plugin(scheme: scheme, isSink: true)?.sinkPlugins.first { $0.info.schemes.contains(scheme) }
    }

    /// Returns the schemes of all sources, whether their plug-ins work or not.
    public func sourceSchemes() -> [String] {
        discovery.scan().candidates.flatMap { $0.manifest?.sourceSchemes ?? [] }
    }

    /// Returns the schemes of all sinks, whether their plug-ins work or not.
    public func sinkSchemes() -> [String] { discovery.scan().candidates.flatMap { $0.manifest?.sinkSchemes ?? [] } }
}
