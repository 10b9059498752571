public import InletCore

/// Turns sources and sinks written for ``InletCore`` into a plug-in: a shared library that the stock `inlet` loads.
///
/// A plug-in's author writes the sources as for an application that compiles them in, and one more function:
///
///     import InletPluginSDK
///
///     @c(inlet_plugin_main)
///     public func pluginMain() { PluginKit.export(.ball) }
///
/// The resulting library exports `inlet_plugin_entry` of `inlet_plugin.h`, and nothing else if the linker is configured
/// for that; `Samples/SwiftSource` shows how.
///
/// Each instance of a source has its own thread, on which all its functions are called. So a source may take as long as
/// it needs for its next picture, as within an application. Meanwhile Inlet knows that there is no picture yet, and a
/// cancellation reaches the source at once.
public enum PluginKit {
    /// Adds sources to the plug-in. Called in `inlet_plugin_main`.
    ///
    /// The scheme of a URI selects one of several sources; the last one with the scheme is used. The plug-in's manifest
    /// declares their schemes and options.
    public static func export(_ plugins: SourcePlugin...) { PluginLibrary.shared.add(plugins) }

    /// Adds sinks to the plug-in, as sources are added. A sink whose configuration is a ``PacketSinkConfiguration``
    /// gets the source's packets, and its manifest has `"takes": "packets"`; any other gets pictures.
    ///
    /// A sink is called on Inlet's thread of the plug-in. It may block, but for no longer than Inlet waits: 5 seconds
    /// per picture or packet, 2 seconds for ``FrameSink/finish()``.
    public static func export(_ plugins: SinkPlugin...) { PluginLibrary.shared.add(plugins) }
}
