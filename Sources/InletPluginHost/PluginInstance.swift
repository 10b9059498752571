import CInletPlugin
import InletPluginWire

/// An instance of a source or a sink, driven by Inlet's messages. Main thread.
protocol PluginInstance: AnyObject {
    /// Answers the message that made the instance.
    func answerCreate()
    /// Handles the newest message, and answers it where it needs that.
    ///
    /// - Returns: false if it is not a message for this kind of instance.
    /// - Throws: ``PluginFailure``, which becomes the answer.
    func handle(_ type: Int) throws(PluginFailure) -> Bool
    /// Closes and destroys the instance. Called once.
    func close()
}

extension inlet_error {
    /// An error for a function to fill in.
    static var empty: inlet_error {
        var error = inlet_error()
        error.size = UInt32(MemoryLayout<inlet_error>.size)
        return error
    }
}

extension inlet_wire_stream {
    /// Describes a stream for Inlet, but for its parameter sets.
    init(_ stream: inlet_stream) {
        self.init()
        type = UInt32(INLET_MESSAGE_OPENED)
        unsafe pacing = stream.pacing
        unsafe width = stream.width
        unsafe height = stream.height
        unsafe pixel_format = stream.pixel_format
        unsafe codec = stream.codec
        unsafe time_base = stream.time_base
        unsafe frame_rate = stream.frame_rate
        unsafe sample_aspect_ratio = stream.sample_aspect_ratio
        unsafe color = stream.color
        unsafe rotation = stream.rotation
        unsafe timestamp_bits = stream.timestamp_bits
        unsafe reorder_depth = stream.reorder_depth
        unsafe duration = stream.duration
    }
}

extension inlet_stream {
    /// Describes a stream for a plug-in, but for its parameter sets.
    init(_ stream: inlet_wire_stream) {
        unsafe self.init()
        unsafe size = UInt32(MemoryLayout<inlet_stream>.size)
        unsafe pacing = stream.pacing
        unsafe width = stream.width
        unsafe height = stream.height
        unsafe pixel_format = stream.pixel_format
        unsafe codec = stream.codec
        unsafe time_base = stream.time_base
        unsafe frame_rate = stream.frame_rate
        unsafe sample_aspect_ratio = stream.sample_aspect_ratio
        unsafe color = stream.color
        unsafe rotation = stream.rotation
        unsafe timestamp_bits = stream.timestamp_bits
        unsafe reorder_depth = stream.reorder_depth
        unsafe duration = stream.duration
    }
}
