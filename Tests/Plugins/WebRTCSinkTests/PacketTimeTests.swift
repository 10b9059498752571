#if GStreamer
import CGStreamer
import CGStreamerPeer
import CGStreamerPeerInternals
import Foundation
import Testing

/// The conversion of picture times to RTP, by GStreamer's payloader.
@Suite struct PacketTimeTests {
    /// Returns the RTP timestamps, relative to the first, of pictures with these times in nanoseconds.
    private func timestamps(of times: [UInt64]) throws -> [UInt32] {
        try #require(unsafe inlet_gst_start() == nil)
        let output = Pipe()
        // Each packet follows two bytes with its size (RFC 4571).
        let pipeline = unsafe try #require(
            unsafe gst_parse_launch(
                """
                appsrc name=source format=time caps=video/x-h264,stream-format=byte-stream,alignment=au \
                ! rtph264pay ! rtpstreampay ! fdsink sync=false fd=\(output.fileHandleForWriting.fileDescriptor)
                """, nil))
        defer { unsafe gst_object_unref(pipeline) }
        // A pipeline is a bin.
        let bin = unsafe UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
        let source = unsafe try #require(unsafe gst_bin_get_by_name(bin, "source"))
        defer { unsafe gst_object_unref(source) }
        unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
        var viewer = unsafe inlet_gst_viewer()
        unsafe viewer.source = source
        // Slices of pictures, starting with a key frame.
        for (index, time) in times.enumerated() {
            let bytes: [UInt8] = [0, 0, 0, 1, index == 0 ? 0x65 : 0x41, 0x88, 0x84, 0x21]
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
            unsafe memory.initialize(from: bytes, count: bytes.count)
            let packet = unsafe inlet_gst_packet_new(memory, bytes.count, time, index == 0 ? 1 : 0, memory) {
                unsafe $0?.deallocate()
            }
            // As if another viewer also used the packet.
            #expect(unsafe inlet_gst_viewer_push(&viewer, packet) != 0)
            let kept = unsafe packet?.pointee.pts ?? 0
            #expect(kept == time, "its time is the other viewer's as well")
            unsafe inlet_gst_packet_free(packet)
        }
        let end = unsafe UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self)
        #expect(unsafe gst_app_src_end_of_stream(end) == GST_FLOW_OK)
        let bus = unsafe gst_element_get_bus(pipeline)
        let message = unsafe gst_bus_timed_pop_filtered(bus, 10_000_000_000, GST_MESSAGE_EOS)
        unsafe gst_object_unref(bus)
        try #require(unsafe message != nil, "the pipeline does not end")
        unsafe gst_message_unref(message)
        unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
        try output.fileHandleForWriting.close()
        var rest = [UInt8](try output.fileHandleForReading.readToEnd() ?? Data())[...]
        var found: [UInt32] = []
        while rest.count >= 10 {
            let packet = rest.dropFirst(2).prefix(Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1]))
            found.append(packet.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
            rest = rest.dropFirst(2 + packet.count)
        }
        try #require(!found.isEmpty)
        return found.map { $0 &- found[0] }
    }

    @Test("Pictures that are nanoseconds apart have different RTP timestamps; others keep their times")
    func steps() throws {
        let second: UInt64 = 1_000_000_000
        #expect(try timestamps(of: [second, 2 * second, 3 * second]) == [0, 90_000, 180_000])
        let close = try timestamps(of: [second, second + 1, second + 2, second + 3, 2 * second, 2 * second + 1])
        #expect(close.count == 6)
        #expect(zip(close, close.dropFirst()).allSatisfy { $0 < $1 }, "\(close)")
        #expect(close[3] <= 4 && close[4] == 90_000 && close[5] <= 90_002, "\(close)")
    }
}
#endif
