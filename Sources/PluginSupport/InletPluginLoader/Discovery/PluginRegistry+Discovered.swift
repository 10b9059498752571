public import InletCore

extension PluginRegistry {
    /// Makes the registry find the installed plug-ins of the machine, by a manifest `NAME.inlet.json`. They run in
    /// separate sandboxed processes, and offer the schemes that no registered plug-in has.
    ///
    /// The search begins only when a URI has such a scheme.
    ///
    /// - Parameter discovery: the settings of the search. The default searches the standard folders.
    public mutating func registerDiscovered(_ discovery: PluginDiscovery = PluginDiscovery()) {
        finder = DiscoveredPlugins(discovery)
    }
}
