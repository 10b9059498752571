public import InletCore

/// A sink of an installed plug-in that takes pictures.
public struct PluginSinkConfiguration: FrameSinkConfiguration {
    /// The plug-in.
    public var program: PluginProgram
    /// Whether the plug-in is loaded into this process instead of a separate one: a crash in it then ends this process.
    /// The default is false.
    public var isInProcess: Bool
    /// The scheme of the sink's URI.
    public var scheme: String
    /// The part of the URI after the colon, up to its options.
    public var address: String
    /// The options by their names, all that the manifest declares.
    public var options: [(name: String, value: String)]
    /// The sink's URI, without credentials.
    public var redactedURI: String
    /// How long the plug-in may take to start, and for each picture or packet. The default is 5 seconds.
    public var timeout = Duration.seconds(5)
    /// How long it may take to write the remaining data. The default is 2 seconds.
    public var finish = Duration.seconds(2)

    public init(
        program: PluginProgram, isInProcess: Bool = false, scheme: String, address: String,
        options: [(name: String, value: String)], redactedURI: String
    ) {
        self.program = program
        self.isInProcess = isInProcess
        self.scheme = scheme
        self.address = address
        self.options = options
        self.redactedURI = redactedURI
    }

    /// Returns a sink with this configuration. Nothing is started yet.
    public func makeSink() -> any FrameSink { PluginSink(self) }

    /// Starts the plug-in.
    func makeInstance() throws(InletError) -> any SinkInstance {
        if isInProcess { return try LoadedSinkInstance(self) }
        return try ProcessSinkInstance(self)
    }
}
