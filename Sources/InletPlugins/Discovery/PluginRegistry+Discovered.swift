public import InletCore

extension PluginRegistry {
    /// Has the registry find the plug-ins that are installed on the machine, by a manifest `NAME.inlet.json`. They run
    /// in sandboxed processes of their own, and offer the schemes that no registered plug-in has.
    ///
    /// Nothing is looked for until a URI has such a scheme.
    ///
    /// - Parameter discovery: where and how plug-ins are looked for. The default searches the standard folders.
    public mutating func registerDiscovered(_ discovery: PluginDiscovery = PluginDiscovery()) {
        finder = DiscoveredPlugins(discovery)
    }
}
