// One import for applications: the vocabulary, the conversion, the bridge and the plug-ins that Inlet comes with.
@_exported public import FFmpegDecoder
@_exported public import FFmpegFilter
@_exported public import FFmpegSink
@_exported public import FFmpegSource
@_exported public import FileSinks
@_exported public import InjectSource
@_exported public import InletCapture
@_exported public import InletConvert
@_exported public import InletCore
@_exported public import InletDecode
@_exported public import InletPluginLoader
@_exported public import InletV4L2
@_exported public import PatternSource
@_exported public import PipeSink
@_exported public import PreviewSink
@_exported public import RTSPSource
@_exported public import ScreenSource
@_exported public import StillSinks
@_exported public import TurboJPEGDecoder
@_exported public import V4L2Sink
@_exported public import V4L2Source

#if GStreamer
@_exported public import InletRTC
@_exported public import KinesisPlugin
@_exported public import WebRTCSink
@_exported public import WebRTCSource
@_exported public import RoomsPlugin
#endif
