/// Finds plug-ins that a registry does not hold, such as those installed on the machine.
///
/// A ``PluginRegistry`` asks its ``PluginRegistry/finder`` only for schemes that its plug-ins lack, so that
/// a URI of a registered plug-in never pays for the search, and no found plug-in takes over a registered scheme.
public protocol PluginFinder: Sendable {
    /// Returns the source for a scheme; nil if no plug-in has the scheme. The registry calls it on the thread on which
    /// a URI is read. An implementation may read files and start processes, and sets its deadline itself.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if several plug-ins have the scheme;
    ///   ``InletError/Code/pluginRejected`` if the plug-in that has it cannot be used.
    func source(scheme: String) throws(InletError) -> SourcePlugin?

    /// Returns the sink that has a scheme, as ``source(scheme:)``.
    func sink(scheme: String) throws(InletError) -> SinkPlugin?

    /// Returns the schemes of the sources that can be found, for suggestions in errors.
    func sourceSchemes() -> [String]

    /// Returns the schemes of the sinks that can be found, for suggestions in errors.
    func sinkSchemes() -> [String]
}
