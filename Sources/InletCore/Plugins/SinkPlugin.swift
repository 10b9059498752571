/// A sink that can be named by a URI.
public struct SinkPlugin: Sendable {
    /// What it tells people of itself.
    public let info: PluginInfo
    let makeConfiguration: @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSinkConfiguration

    /// - Parameters:
    ///   - info: what the plug-in tells people of itself.
    ///   - makeConfiguration: as for ``SourcePlugin``.
    public init(
        _ info: PluginInfo,
        makeConfiguration: @escaping @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSinkConfiguration
    ) {
        self.info = info
        self.makeConfiguration = makeConfiguration
    }
}
