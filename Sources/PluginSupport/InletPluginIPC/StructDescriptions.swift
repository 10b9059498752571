package import CInletPlugin

extension inlet_error {
    /// An error for a function to fill in.
    package static var empty: inlet_error {
        var error = inlet_error()
        error.size = UInt32(MemoryLayout<inlet_error>.size)
        return error
    }
}

// Unsafe: copies values between C structs.
extension inlet_wire_stream {
    /// Describes a plug-in's stream for Inlet, except for its parameter sets.
    package init(_ stream: inlet_stream) {
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
    /// Describes a stream for a plug-in, except for its parameter sets.
    package init(_ stream: inlet_wire_stream) {
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
