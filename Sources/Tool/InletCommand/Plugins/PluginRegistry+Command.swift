import Inlet

extension PluginRegistry {
    /// The registry of the command for URIs written by the user of the command: their options may name the files and
    /// variables that hold secrets. It finds installed plug-ins.
    static var command: PluginRegistry {
        var registry = InletTool.registry
        registry.localAccess = .system
        // An application may have set its own finder.
        if registry.finder == nil { registry.registerDiscovered() }
        return registry
    }

    /// Returns the registry of the command with the user's options for installed plug-ins.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the choice names an unknown plug-in or layer.
    static func command(_ options: InstalledPluginOptions) throws(InletError) -> PluginRegistry {
        var registry = command
        guard options.isGiven else { return registry }
        let discovery = options.discovery
        try discovery.validate()
        registry.registerDiscovered(discovery)
        return registry
    }
}
