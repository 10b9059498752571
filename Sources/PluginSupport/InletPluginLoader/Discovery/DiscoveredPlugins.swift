public import InletCore

/// Gives a registry the plug-ins that are installed on the machine.
///
/// The search begins only when the registry meets a scheme that no registered plug-in has. Every such URI searches
/// the folders again, so that a long-running process finds new plug-ins and new versions; only the needed plug-in is
/// probed. A running source switches to a new version (``PluginDiscovery/takesUpdates``).
public struct DiscoveredPlugins: PluginFinder {
    /// The settings of the search for plug-ins.
    public let discovery: PluginDiscovery

    /// Creates a finder. Nothing is searched yet.
    public init(_ discovery: PluginDiscovery = PluginDiscovery()) { self.discovery = discovery }

    /// Returns the source of the one plug-in that offers a scheme, after probing the plug-in if necessary.
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
