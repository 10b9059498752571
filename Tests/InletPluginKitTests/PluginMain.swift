import InletPluginKit
import PatternSource

/// The plug-in of these tests: a source that follows a script, the one of test pictures, and sinks that keep what they
/// get.
@c(inlet_plugin_main)
func pluginMain() {
    PluginKit.export(.scripted, .pattern)
    PluginKit.export(.pictures, .packets)
}
