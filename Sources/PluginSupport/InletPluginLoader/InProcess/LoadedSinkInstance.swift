import CInletPlugin
import InletCore
import InletPluginIPC
import InletSystem
import Synchronization

// Unsafe: calls the functions of a plug-in's sink and fills in its structs.
/// An instance of a sink in this process. Pictures and packets are not copied.
@safe final class LoadedSinkInstance: SinkInstance {
    let wants: inlet_sink_wants
    private let configuration: PluginSinkConfiguration
    private let library: LoadedLibrary
    private let interface: inlet_sink_interface
    private let calls: Calls
    private let host: UnsafeMutablePointer<inlet_sink_host>
    private let instance: OpaquePointer?
    private var isStarted = false

    /// The state that the functions of `inlet_sink_host` need. Safe from any thread.
    private final class Calls: Sendable {
        let keyFrame = Atomic(false)
    }

    init(_ configuration: PluginSinkConfiguration) throws(InletError) {
        self.configuration = configuration
        let name = configuration.program.name
        let options = try PluginCall.memory(
            of: name, scheme: configuration.scheme, address: configuration.address, options: configuration.options)
        library = try LoadedLibrary(configuration.program)
        guard let interface = try library.sink() else {
            throw PluginCall.rejection(
                PluginLie("has no interface \(INLET_SINK_ID), which its manifest promises"), of: name)
        }
        self.interface = interface
        let calls = Calls()
        self.calls = calls
        let host = UnsafeMutablePointer<inlet_sink_host>.allocate(capacity: 1)
        unsafe host.initialize(
            to: inlet_sink_host(
                // A sink is never cancelled: it has deadlines.
                size: UInt32(MemoryLayout<inlet_sink_host>.size), wake_fd: -1,
                context: Unmanaged.passUnretained(calls).toOpaque(), is_cancelled: { _ in 0 },
                request_key_frame: { context in
                    guard let context = unsafe context else { return }
                    unsafe Unmanaged<Calls>.fromOpaque(context).takeUnretainedValue().keyFrame
                        .store(true, ordering: .relaxed)
                }))
        unsafe self.host = unsafe host
        var error = inlet_error.empty
        var made: OpaquePointer?
        var wants = inlet_sink_wants()
        wants.size = UInt32(MemoryLayout<inlet_sink_wants>.size)
        let result =
            unsafe interface.create?(options.configuration, host, &made, &wants, &error)
            ?? inlet_result(INLET_ERROR_INTERNAL)
        withExtendedLifetime(options) {}
        unsafe instance = result == INLET_OK ? made : nil
        self.wants = wants
        guard result == INLET_OK else { throw Self.failure(result, error, of: name, "start") }
        guard unsafe made != nil else {
            throw PluginCall.rejection(PluginLie("created neither an instance nor an error"), of: name)
        }
    }

    deinit {
        if let instance = unsafe instance { unsafe interface.destroy?(instance) }
        unsafe host.deallocate()
    }

    private static func failure(
        _ result: inlet_result, _ error: inlet_error, of name: String, _ operation: String
    ) -> InletError {
        switch PluginCall.error(result, error, of: name, operation, isCancelled: false) {
        case .success(let error): error
        case .failure(let lie): PluginCall.rejection(lie, of: name)
        }
    }

    private func failure(_ result: inlet_result, _ error: inlet_error, _ operation: String) -> InletError {
        Self.failure(result, error, of: configuration.program.name, operation)
    }

    private func due(after limit: Duration) -> Int64 { (MonotonicTime.now + limit).nanoseconds }

    func takeKeyFrameRequest() -> Bool { calls.keyFrame.exchange(false, ordering: .relaxed) }

    func start(_ stream: inlet_wire_stream, parameterSets: [UInt8]) throws(InletError) {
        isStarted = true
        var error = inlet_error.empty
        let result = unsafe parameterSets.withUnsafeBufferPointer { sets in
            var told = unsafe inlet_stream(stream)
            unsafe told.parameter_sets = sets.isEmpty ? nil : sets.baseAddress
            unsafe told.parameter_sets_length = UInt64(sets.count)
            return unsafe interface.start?(instance, due(after: configuration.timeout), &told, &error)
                ?? inlet_result(INLET_ERROR_INTERNAL)
        }
        guard result == INLET_OK else { throw failure(result, error, "start the stream") }
    }

    func consume(_ item: SinkItem) throws(InletError) -> Bool {
        var given = unsafe inlet_item()
        unsafe given.size = UInt32(MemoryLayout<inlet_item>.size)
        unsafe given.flags = item.flags
        unsafe given.sequence = item.sequence
        unsafe given.pts = item.pts
        unsafe given.duration = item.duration
        unsafe given.capture_time = item.captureTime
        unsafe given.wall_clock = item.wallClock
        unsafe given.packet.dts = item.dts
        var owner: (any AnyObject & Sendable)?
        switch item.content {
        case .picture(let picture): unsafe describe(picture, item, in: &given.picture)
        case .packet(let data):
            let (memory, keeper) = unsafe data.storage
            owner = keeper
            unsafe given.is_packet = 1
            unsafe given.packet.data = memory.assumingMemoryBound(to: UInt8.self).baseAddress
            unsafe given.packet.length = UInt64(memory.count)
        }
        var error = inlet_error.empty
        let result =
            unsafe interface.consume?(instance, due(after: configuration.timeout), &given, &error)
            ?? inlet_result(INLET_ERROR_INTERNAL)
        withExtendedLifetime((item, owner)) {}
        switch Int(result) {
        case INLET_OK: return true
        case INLET_END: return false
        default: throw failure(result, error, "take a picture or packet")
        }
    }

    private func describe(_ picture: I420Buffer, _ item: SinkItem, in given: inout inlet_picture) {
        given.width = UInt32(picture.size.width)
        given.height = UInt32(picture.size.height)
        FixedText.write("yuv420p", to: &given.pixel_format)
        given.sample_aspect_ratio = WireValues.ratio(item.aspectRatio)
        given.color = WireValues.color(item.color)
        given.rotation = UInt32(item.rotation.rawValue)
        given.plane_count = 3
        unsafe withUnsafeMutableBytes(of: &given.planes) { bytes in
            let planes = unsafe bytes.assumingMemoryBound(to: inlet_plane.self)
            for plane in I420Buffer.Plane.allCases {
                let (rows, stride) = (I420Buffer.rows(of: plane, in: picture.size), picture.strides[plane])
                // The sink only reads it.
                unsafe planes[plane.rawValue] = inlet_plane(
                    data: UnsafeMutablePointer(mutating: picture.baseAddress(of: plane)),
                    length: UInt64(stride * (rows.height - 1) + rows.width), offset: 0, stride: Int64(stride))
            }
        }
    }

    func finish() throws(InletError) {
        guard isStarted else { return }
        isStarted = false
        var error = inlet_error.empty
        let result =
            unsafe interface.finish?(instance, due(after: configuration.finish), &error)
            ?? inlet_result(INLET_ERROR_INTERNAL)
        guard result == INLET_OK else { throw failure(result, error, "finish") }
    }
}
