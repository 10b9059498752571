/// A source that can be named by a URI.
public struct SourcePlugin: Sendable {
    /// The plug-in's description for people.
    public let info: PluginInfo
    let makeConfiguration: @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSourceConfiguration

    /// - Parameters:
    ///   - info: the plug-in's description for people.
    ///   - makeConfiguration: turns a URI and its options, already checked one by one, into a configuration. It throws
    ///     if their combination cannot work, and does no input or output.
    public init(
        _ info: PluginInfo,
        makeConfiguration: @escaping @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSourceConfiguration
    ) {
        self.info = info
        self.makeConfiguration = makeConfiguration
    }
}
