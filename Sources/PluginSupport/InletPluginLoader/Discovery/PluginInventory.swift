/// The installed plug-ins of the machine: everything that a listing shows about them.
public struct PluginInventory: Sendable {
    /// The folders, in the order in which they are searched.
    public let folders: [PluginFolder]
    /// The plug-ins that can be used.
    public let plugins: [DiscoveredPlugin]
    /// The plug-ins that cannot be used, each with the reason.
    public let broken: [BrokenPlugin]
    /// Manifests that are not used, because an earlier folder has one of the same name.
    public let shadowed: [ShadowedPlugin]
    /// Schemes that no plug-in gets.
    public let conflicts: [SchemeConflict]
}
