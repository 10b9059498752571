import Inlet

extension PluginRegistry {
    /// The standard one for URIs that whoever started the command has written: its options may name the files and
    /// variables that hold secrets.
    static var command: PluginRegistry {
        var registry = PluginRegistry.standard
        registry.localAccess = .system
        return registry
    }
}
