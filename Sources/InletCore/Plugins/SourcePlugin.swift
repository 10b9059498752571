/// A source that can be named by a URI.
public struct SourcePlugin: Sendable {
    /// What it tells people of itself.
    public let info: PluginInfo
    let makeConfiguration: @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSourceConfiguration

    /// - Parameters:
    ///   - info: what the plug-in tells people of itself.
    ///   - makeConfiguration: turns a URI and its options, already checked one by one, into a configuration. It throws
    ///     where their combination cannot work, and does no input or output.
    public init(
        _ info: PluginInfo,
        makeConfiguration: @escaping @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSourceConfiguration
    ) {
        self.info = info
        self.makeConfiguration = makeConfiguration
    }
}
