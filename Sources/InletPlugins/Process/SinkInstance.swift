import CInletPlugin
import InletCore

/// An instance of a plug-in's sink, in a process of its own or in this one. Used on one thread at a time.
protocol SinkInstance: AnyObject {
    /// What the sink wants, as it stated when it was made.
    var wants: inlet_sink_wants { get }
    /// Whether the sink has asked for a key frame since the last time that this was read.
    func takeKeyFrameRequest() -> Bool
    /// Tells the sink what comes.
    ///
    /// - Parameters:
    ///   - stream: the stream, without its deadline.
    ///   - parameterSets: those of the codec.
    func start(_ stream: inlet_wire_stream, parameterSets: [UInt8]) throws(InletError)
    /// Hands an item over.
    ///
    /// - Returns: false if the sink wants no more.
    func consume(_ item: SinkItem) throws(InletError) -> Bool
    /// Has the sink write what is left, and ends it. Called once.
    func finish() throws(InletError)
}
