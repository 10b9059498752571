public import InletCore

/// Turns sources and sinks written for ``InletCore`` into a plug-in: a shared library that the stock `inlet` loads.
///
/// A plug-in's author writes the sources as for an application that compiles them in, and one function more:
///
///     import InletPluginKit
///
///     @c(inlet_plugin_main)
///     public func pluginMain() { PluginKit.export(.ball) }
///
/// The library that results exports `inlet_plugin_entry` of `inlet_plugin.h`, and nothing else if the linker is told
/// so; `Samples/SwiftSource` shows how.
///
/// Each instance of a source has a thread of its own, on which all its functions are called. So a source may take as
/// long as it needs for its next picture, as within an application; Inlet is told meanwhile that there is none yet, and
/// a cancellation reaches it at once.
public enum PluginKit {
    /// Adds sources to the plug-in. Called in `inlet_plugin_main`.
    ///
    /// The scheme of a URI decides between several; the last that has it is used. Their schemes and options are those
    /// that the plug-in's manifest declares.
    public static func export(_ plugins: SourcePlugin...) { PluginLibrary.shared.add(plugins) }

    /// Adds sinks to the plug-in, as sources are added. A sink whose configuration is a ``PacketSinkConfiguration``
    /// gets the source's packets, and its manifest says `"takes": "packets"`; another one gets pictures.
    ///
    /// A sink is called on Inlet's thread of the plug-in. It may block, but for no longer than Inlet waits: 5 seconds a
    /// picture or packet, 2 seconds for ``FrameSink/finish()``.
    public static func export(_ plugins: SinkPlugin...) { PluginLibrary.shared.add(plugins) }
}
