import CInletPlugin
import InletCore
import InletPluginIPC
import InletSystem
import Synchronization

/// A sink, called as by a host through the tables of `inlet_plugin_entry`.
@safe final class TableSink {
    /// The requirements of the sink.
    private(set) var wants = inlet_sink_wants()
    private let table: inlet_sink_interface
    private let requests = Requests()
    private var instance: OpaquePointer?

    /// Counts the requests for key frames.
    private final class Requests: Sendable {
        let count = Atomic(0)
    }

    /// The number of the sink's key-frame requests.
    var keyFrameRequests: Int { requests.count.load(ordering: .relaxed) }

    init(_ scheme: String, _ address: String = "") throws {
        try TableSource.loaded.get()
        let table = unsafe inlet_plugin_entry.get_interface(INLET_SINK_ID)?
            .assumingMemoryBound(to: inlet_sink_interface.self).pointee
        guard let table = table else { throw InletError(.internal, "no interface") }
        self.table = table
        var host = unsafe inlet_sink_host()
        unsafe host.size = UInt32(MemoryLayout<inlet_sink_host>.size)
        unsafe host.wake_fd = -1
        unsafe host.context = Unmanaged.passUnretained(requests).toOpaque()
        unsafe host.request_key_frame = { context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Requests>.fromOpaque(context).takeUnretainedValue().count.add(1, ordering: .relaxed)
        }
        wants.size = UInt32(MemoryLayout<inlet_sink_wants>.size)
        var error = inlet_error.empty
        var made: OpaquePointer?
        let result = unsafe scheme.withCString { scheme in
            unsafe address.withCString { address in
                var configuration = unsafe inlet_configuration(
                    size: UInt32(MemoryLayout<inlet_configuration>.size), option_count: 0, scheme: scheme,
                    address: address, options: nil)
                return unsafe table.create(&configuration, &host, &made, &wants, &error)
            }
        }
        try TableSource.check(result, error)
        unsafe instance = made
    }

    /// Starts the stream: pictures, or packets of a codec with parameter sets of the bytes 1, 2, 3.
    func start(_ codec: String = "") throws {
        var stream = unsafe inlet_stream()
        unsafe stream.size = UInt32(MemoryLayout<inlet_stream>.size)
        unsafe (stream.width, stream.height) = (7, 5)
        unsafe stream.time_base = inlet_rational(numerator: 1, denominator: 25)
        unsafe stream.frame_rate = inlet_rational(numerator: 25, denominator: 1)
        unsafe FixedText.write(codec.isEmpty ? "yuv420p" : "", to: &stream.pixel_format)
        unsafe FixedText.write(codec, to: &stream.codec)
        var error = inlet_error.empty
        let sets: [UInt8] = [1, 2, 3]
        let result = unsafe sets.withUnsafeBufferPointer { sets in
            if !codec.isEmpty {
                unsafe (stream.parameter_sets, stream.parameter_sets_length) = (sets.baseAddress, UInt64(sets.count))
            }
            return unsafe table.start(instance, Self.deadline, &stream, &error)
        }
        try TableSource.check(result, error)
    }

    /// Passes a picture of 7x5 in I420 with the given samples, in rows that are 16 bytes apart. The memory is
    /// overwritten afterwards.
    ///
    /// - Returns: the result, which is not an error.
    func consume(_ samples: [UInt8], sequence: UInt64) throws -> Int {
        var memory = [UInt8](repeating: 0xEE, count: 11 * 16)
        var next = samples.makeIterator()
        for (row, width) in zip(0..<11, [7, 7, 7, 7, 7, 4, 4, 4, 4, 4, 4]) {
            for column in 0..<width { memory[row * 16 + column] = next.next() ?? 0 }
        }
        var error = inlet_error.empty
        let result = unsafe memory.withUnsafeMutableBufferPointer { memory in
            var item = unsafe inlet_item()
            unsafe item.size = UInt32(MemoryLayout<inlet_item>.size)
            unsafe (item.sequence, item.pts, item.capture_time, item.wall_clock) = (sequence, 40, 77, .min)
            unsafe (item.picture.width, item.picture.height, item.picture.plane_count) = (7, 5, 3)
            unsafe FixedText.write("yuv420p", to: &item.picture.pixel_format)
            func plane(_ offset: Int, _ rows: Int) -> inlet_plane {
                unsafe inlet_plane(
                    data: memory.baseAddress, length: UInt64(memory.count), offset: UInt64(offset * 16), stride: 16)
            }
            unsafe item.picture.planes = (plane(0, 5), plane(5, 3), plane(8, 3), inlet_plane())
            return unsafe table.consume(instance, Self.deadline, &item, &error)
        }
        memory = []
        try TableSource.check(result, error)
        return Int(result)
    }

    /// Passes a packet.
    func consume(packet bytes: [UInt8], number: Int64, isKey: Bool) throws {
        var error = inlet_error.empty
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            var item = unsafe inlet_item()
            unsafe item.size = UInt32(MemoryLayout<inlet_item>.size)
            unsafe item.is_packet = 1
            unsafe item.flags = isKey ? UInt32(INLET_FLAG_KEY) : 0
            unsafe (item.pts, item.packet.dts, item.capture_time) = (number + 1, number, 77)
            unsafe (item.packet.data, item.packet.length) = (bytes.baseAddress, UInt64(bytes.count))
            return unsafe table.consume(instance, Self.deadline, &item, &error)
        }
        try TableSource.check(result, error)
    }

    func finish() throws {
        var error = inlet_error.empty
        try TableSource.check(unsafe table.finish(instance, Self.deadline, &error), error)
    }

    private static var deadline: Int64 { (MonotonicTime.now + .seconds(20)).nanoseconds }

    deinit { if unsafe instance != nil { unsafe table.destroy(instance) } }
}
