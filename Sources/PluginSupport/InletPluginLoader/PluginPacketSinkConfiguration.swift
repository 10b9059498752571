public import InletCore

/// A sink of an installed plug-in that takes the source's own packets.
public struct PluginPacketSinkConfiguration: PacketSinkConfiguration {
    /// How the plug-in is run.
    public var sink: PluginSinkConfiguration

    public init(_ sink: PluginSinkConfiguration) { self.sink = sink }

    /// The sink's URI, without credentials.
    public var redactedURI: String { sink.redactedURI }

    /// Returns a sink that takes packets. Nothing is started yet.
    public func makePacketSink() -> any PacketSink { PluginPacketSink(sink) }

    /// Returns a sink that takes pictures, for a plug-in that turns out to take those.
    public func makeSink() -> any FrameSink { sink.makeSink() }
}
