/// A sink that can be named by a URI.
public struct SinkPlugin: Sendable {
    /// The plug-in's description for people.
    public let info: PluginInfo
    let makeConfiguration: @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSinkConfiguration

    /// - Parameters:
    ///   - info: the plug-in's description for people.
    ///   - makeConfiguration: as for ``SourcePlugin``.
    public init(
        _ info: PluginInfo,
        makeConfiguration: @escaping @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSinkConfiguration
    ) {
        self.info = info
        self.makeConfiguration = makeConfiguration
    }
}
