import InletPluginSDK
import PatternSource

/// The plug-in of these tests: a source that follows a script, the source of test pictures, and sinks that keep their
/// items.
@c(inlet_plugin_main)
func pluginMain() {
    PluginKit.export(.scripted, .pattern)
    PluginKit.export(.pictures, .packets)
}
