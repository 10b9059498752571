import BallSource
import InletPluginSDK

/// Called by Inlet after it has loaded the library.
@c(inlet_plugin_main)
public func pluginMain() { PluginKit.export(.ball) }
