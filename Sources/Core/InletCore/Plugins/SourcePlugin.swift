/// A source that can be named by a URI.
public struct SourcePlugin: Sendable {
    /// The plug-in's description for people.
    public let info: PluginInfo
    let makeConfiguration: @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSourceConfiguration

    /// - Parameters:
    ///   - info: the plug-in's description for people.
    ///   - makeConfiguration: turns a URI and its options, already checked one by one, into a configuration. It throws
    ///     if their combination cannot work. It does no input or output, apart from reading a small regular file that
    ///     a declared option names.
    public init(
        _ info: PluginInfo,
        makeConfiguration: @escaping @Sendable (PluginURI, PluginOptionValues) throws -> any FrameSourceConfiguration
    ) {
        self.info = info
        self.makeConfiguration = makeConfiguration
    }
}
