import Inlet

extension PluginRegistry {
    /// The registry of the command for URIs that the user of the command has written: its options may name the files and
    /// variables that hold secrets.
    static var command: PluginRegistry {
        var registry = InletTool.registry
        registry.localAccess = .system
        return registry
    }
}
