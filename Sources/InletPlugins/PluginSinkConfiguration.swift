public import InletCore

/// A sink of a plug-in that Inlet did not ship, which takes pictures.
public struct PluginSinkConfiguration: FrameSinkConfiguration {
    /// The plug-in.
    public var program: PluginProgram
    /// Whether the plug-in is loaded into this process rather than one of its own: a mistake in it then ends this
    /// process. The default is false.
    public var isInProcess: Bool
    /// The scheme of the sink's URI.
    public var scheme: String
    /// What follows the colon of the URI, up to its options.
    public var address: String
    /// The options by their names, every one that the manifest declares.
    public var options: [(name: String, value: String)]
    /// The sink's URI, without credentials.
    public var redactedURI: String
    /// How long the plug-in may take to start, and for each picture or packet. The default is 5 seconds.
    public var timeout = Duration.seconds(5)
    /// How long it may take to write what is left. The default is 2 seconds.
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

    /// Returns a sink with this configuration. Starts nothing yet.
    public func makeSink() -> any FrameSink { PluginSink(self) }

    /// Starts the plug-in.
    func makeInstance() throws(InletError) -> any SinkInstance {
        if isInProcess { return try LoadedSinkInstance(self) }
        return try ProcessSinkInstance(self)
    }
}
