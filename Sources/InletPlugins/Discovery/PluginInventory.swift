/// What is installed on the machine: everything that a listing shows of plug-ins that Inlet does not come with.
public struct PluginInventory: Sendable {
    /// The folders, in the order in which they are searched.
    public let folders: [PluginFolder]
    /// The plug-ins that can be used.
    public let plugins: [DiscoveredPlugin]
    /// Those that cannot, each with the reason.
    public let broken: [BrokenPlugin]
    /// Manifests that are not used, as an earlier folder has one of the same name.
    public let shadowed: [ShadowedPlugin]
    /// Schemes that no plug-in gets.
    public let conflicts: [SchemeConflict]
}
