import CInletPlugin
import InletCore

/// An instance of a plug-in's sink, in a separate process or in this one. Used on one thread at a time.
protocol SinkInstance: AnyObject {
    /// The sink's wants, as stated when it was made.
    var wants: inlet_sink_wants { get }
    /// Whether the sink has requested a key frame since this was last read.
    func takeKeyFrameRequest() -> Bool
    /// Announces the stream to the sink.
    ///
    /// - Parameters:
    ///   - stream: the stream, without its deadline.
    ///   - parameterSets: the parameter sets of the codec.
    func start(_ stream: inlet_wire_stream, parameterSets: [UInt8]) throws(InletError)
    /// Hands an item over.
    ///
    /// - Returns: false if the sink wants no more items.
    func consume(_ item: SinkItem) throws(InletError) -> Bool
    /// Makes the sink write its remaining data, and ends it. Called once.
    func finish() throws(InletError)
}
