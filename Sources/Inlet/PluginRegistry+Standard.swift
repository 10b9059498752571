extension PluginRegistry {
    /// Every source and sink that Inlet comes with. Add your own to a copy.
    public static var standard: PluginRegistry {
        var registry = PluginRegistry()
        registry.register(SourcePlugin.pattern)
        registry.register(SourcePlugin.file)
        registry.register(SourcePlugin.network)
        registry.register(SinkPlugin.null)
        registry.register(SinkPlugin.i420)
        registry.register(SinkPlugin.y4m)
        registry.register(SinkPlugin.framemd5)
        #if os(Linux)
            registry.register(SourcePlugin.v4l2)
            registry.register(SinkPlugin.v4l2)
        #endif
        return registry
    }
}
