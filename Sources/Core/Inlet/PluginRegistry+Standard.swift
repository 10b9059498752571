extension PluginRegistry {
    /// Every source and sink that Inlet comes with. Add your own to a copy.
    public static var standard: PluginRegistry {
        var registry = PluginRegistry()
        registry.register(SourcePlugin.pattern)
        registry.register(SourcePlugin.file)
        registry.register(SourcePlugin.network)
        registry.register(SourcePlugin.rtsp)
        registry.register(SourcePlugin.rtspCapture)
        registry.register(SourcePlugin.onvif)
        registry.register(DecoderPlugin.ffmpeg)
        registry.register(DecoderPlugin.turboJPEG)
        registry.register(FilterPlugin.ffmpeg)
        registry.register(SinkPlugin.null)
        registry.register(SinkPlugin.i420)
        registry.register(SinkPlugin.y4m)
        registry.register(SinkPlugin.framemd5)
        registry.register(SinkPlugin.jpeg)
        registry.register(SinkPlugin.png)
        registry.register(SinkPlugin.preview)
        registry.register(SinkPlugin.exec)
        registry.register(SinkPlugin.sharedMemory)
        registry.register(SinkPlugin.recording)
        registry.register(SinkPlugin.streaming)
        registry.register(SourcePlugin.v4l2)
        registry.register(SourcePlugin.screen)
        registry.register(SinkPlugin.v4l2)
        #if GStreamer
        registry.register(SourcePlugin.whip)
        registry.register(SourcePlugin.whep)
        registry.register(SourcePlugin.kinesis)
        registry.register(SourcePlugin.janus)
        registry.register(SinkPlugin.webRTC { FFmpegVideoEncoder() })
        registry.register(SinkPlugin.whip { FFmpegVideoEncoder() })
        registry.register(SinkPlugin.kinesis { FFmpegVideoEncoder() })
        registry.register(SinkPlugin.janus { FFmpegVideoEncoder() })
        #else
        registry.register(SinkPlugin.webRTCIsAbsent)
        #endif
        return registry
    }
}
