public import InletCore

/// A source or sink that a manifest declares.
public struct PluginEndpoint: Sendable, Hashable {
    /// The URI schemes, in lower case.
    public let schemes: [String]
    /// The form of its URIs, such as `bars:[NAME]`.
    public let usage: String
    /// Every option that its URIs may carry.
    public let options: [PluginManifestOption]
    /// Working URIs, ready to be copied.
    public let examples: [String]
    /// Whether it is a sink that takes the source's unchanged packets. False for other sinks, and for sources.
    public let takesPackets: Bool
    /// Whether the device or server serves one session at a time, so that the source is closed before a new version of
    /// the plug-in opens it; nil if the manifest does not state it: devices do, other sources do not.
    public let allowsOneSession: Bool?

    /// Returns the description that listings show, as for built-in plug-ins.
    ///
    /// - Parameters:
    ///   - name: the name of the plug-in.
    ///   - summary: a description of the plug-in, in a sentence.
    public func info(name: String, summary: String) -> PluginInfo {
        PluginInfo(
            name: name, schemes: schemes, summary: summary, usage: usage,
            options: options.map { $0.description(schemes: schemes) }, examples: examples)
    }
}
