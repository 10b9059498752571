import Inlet

extension PluginRegistry {
    /// The registry of the command for URIs that the user of the command has written: its options may name the files
    /// and variables that hold secrets. It finds the plug-ins that are installed.
    static var command: PluginRegistry {
        var registry = InletTool.registry
        registry.localAccess = .system
        #if os(Linux)
            // An application may have a finder of its own.
            if registry.finder == nil { registry.registerDiscovered() }
        #endif
        return registry
    }

    #if os(Linux)
        /// Returns that registry with what the user has chosen for installed plug-ins.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration`` if the choice names a plug-in or a layer that there is
        ///   not.
        static func command(_ options: InstalledPluginOptions) throws(InletError) -> PluginRegistry {
            var registry = command
            guard options.isGiven else { return registry }
            let discovery = options.discovery
            try discovery.validate()
            registry.registerDiscovered(discovery)
            return registry
        }
    #else
        /// Returns that registry: nothing can be chosen here.
        static func command(_ options: InstalledPluginOptions) throws(InletError) -> PluginRegistry { command }
    #endif
}
