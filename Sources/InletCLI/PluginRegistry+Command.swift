import Inlet

extension PluginRegistry {
    /// The standard registry for URIs that the user of the command has written: its options may name the files and
    /// variables that hold secrets.
    static var command: PluginRegistry {
        var registry = PluginRegistry.standard
        registry.localAccess = .system
        return registry
    }
}
