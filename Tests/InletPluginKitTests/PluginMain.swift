import InletPluginKit
import PatternSource

/// The plug-in of these tests: a source that follows a script, and the one of test pictures.
@c(inlet_plugin_main)
func pluginMain() { PluginKit.export(.scripted, .pattern) }
