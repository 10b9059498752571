import BallSource
import InletPluginKit

/// What Inlet calls when it has loaded the library.
@c(inlet_plugin_main)
public func pluginMain() { PluginKit.export(.ball) }
