import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC

// Unsafe: calls the functions of a plug-in's sink and fills in its structs.
/// An instance of a sink: calls the plug-in as Inlet's messages ask, and answers. Main thread.
@safe final class SinkInstance: PluginInstance {
    private let interface: inlet_sink_interface
    private let sink: OpaquePointer
    private let inbox: MessageInbox
    private let wants: inlet_sink_wants
    private var segment: SharedSegment?
    private var isStarted = false
    /// The parameter sets that a plug-in may read until the next call.
    private var parameterSets: [UInt8] = []

    /// Calls the plug-in's `create`.
    init(
        _ interface: inlet_sink_interface, _ configuration: ConfigurationMemory, _ inbox: MessageInbox
    ) throws(PluginFailure) {
        self.interface = interface
        self.inbox = inbox
        var sink: OpaquePointer?
        var wants = inlet_sink_wants()
        wants.size = UInt32(MemoryLayout<inlet_sink_wants>.size)
        var error = inlet_error.empty
        let result = unsafe interface.create?(
            configuration.configuration, Self.host(wakeDescriptor: inbox.wakeDescriptor), &sink, &wants, &error)
        guard let result, result == INLET_OK else { throw PluginFailure(result ?? 0, error, of: "create") }
        guard let sink = unsafe sink else {
            throw PluginFailure("The plug-in's create succeeds without an instance. Report this to its author.")
        }
        unsafe self.sink = sink
        self.wants = wants
    }

    func answerCreate() {
        var answer = inlet_wire_result()
        answer.type = UInt32(INLET_MESSAGE_RESULT)
        answer.wants = wants
        HostChannel.shared.answer(answer)
    }

    func handle(_ type: Int) throws(PluginFailure) -> Bool {
        switch type {
        case INLET_MESSAGE_START: try inbox.message.read(inlet_wire_stream.self).map(start)
        case INLET_MESSAGE_CONSUME: try inbox.message.read(inlet_wire_item.self).map(consume)
        case INLET_MESSAGE_SEGMENT: try inbox.message.read(inlet_segment.self).map(adopt)
        default: return false
        }
        return true
    }

    func close(by deadline: Int64) {
        if isStarted {
            var error = inlet_error.empty
            let result = unsafe interface.finish?(sink, deadline, &error) ?? 0
            if result < 0 {
                let failure = PluginFailure(result, error, of: "finish")
                HostChannel.shared.log(inlet_log_level(INLET_LOG_ERROR), failure.message)
            }
        }
        isStarted = false
        unsafe interface.destroy?(sink)
    }

    private func adopt(_ message: inlet_segment) throws(PluginFailure) {
        let descriptor = inbox.takeDescriptor()
        defer { if descriptor >= 0 { Glibc.close(descriptor) } }
        segment = nil
        segment = try SharedSegment(message, descriptor: descriptor, isWritten: false)
    }

    private func start(_ request: inlet_wire_stream) throws(PluginFailure) {
        parameterSets = inbox.message.trailer(after: inlet_wire_stream.self)
        guard parameterSets.count == Int(request.parameter_sets_length) else { throw Self.confused }
        var error = inlet_error.empty
        isStarted = true
        let result = unsafe parameterSets.withUnsafeBufferPointer { bytes in
            var stream = unsafe inlet_stream(request)
            unsafe stream.parameter_sets = bytes.isEmpty ? nil : bytes.baseAddress
            unsafe stream.parameter_sets_length = UInt64(bytes.count)
            return unsafe interface.start?(sink, request.deadline, &stream, &error) ?? 0
        }
        guard result == INLET_OK else { throw PluginFailure(result, error, of: "start") }
        HostChannel.shared.answer(INLET_OK)
    }

    private func consume(_ request: inlet_wire_item) throws(PluginFailure) {
        let trailer = inbox.message.trailer(after: inlet_wire_item.self)
        guard trailer.count == Int(request.parameter_sets_length), let segment, segment.number == request.segment,
            let slot = unsafe segment.slot(Int(request.slot)), let memory = slot.baseAddress
        else { throw Self.confused }
        var item = unsafe inlet_item()
        unsafe item.size = UInt32(MemoryLayout<inlet_item>.size)
        unsafe item.is_packet = request.is_packet
        unsafe item.flags = request.flags
        unsafe item.sequence = request.sequence
        unsafe item.pts = request.pts
        unsafe item.duration = request.duration
        unsafe item.capture_time = request.capture_time
        unsafe item.wall_clock = request.wall_clock
        unsafe item.packet.dts = request.dts
        let bytes = unsafe memory.assumingMemoryBound(to: UInt8.self)
        if request.is_packet != 0 {
            guard request.length <= UInt64(slot.count) else { throw Self.confused }
            unsafe item.packet.data = UnsafePointer(bytes)
            unsafe item.packet.length = request.length
        } else {
            unsafe try describe(request, bytes, slotLength: slot.count, in: &item.picture)
        }
        var error = inlet_error.empty
        let result = unsafe trailer.withUnsafeBufferPointer { parameterSets in
            if !parameterSets.isEmpty {
                unsafe item.packet.parameter_sets = parameterSets.baseAddress
                unsafe item.packet.parameter_sets_length = UInt64(parameterSets.count)
            }
            return unsafe interface.consume?(sink, request.deadline, &item, &error) ?? 0
        }
        switch Int(result) {
        case INLET_OK, INLET_END: HostChannel.shared.answer(Int(result))
        default: throw PluginFailure(result, error, of: "consume")
        }
    }

    /// Points at the planes in a slot.
    private func describe(
        _ request: inlet_wire_item, _ memory: UnsafeMutablePointer<UInt8>, slotLength: Int,
        in picture: inout inlet_picture
    ) throws(PluginFailure) {
        picture.width = request.width
        picture.height = request.height
        picture.pixel_format = request.pixel_format
        picture.sample_aspect_ratio = request.sample_aspect_ratio
        picture.color = request.color
        picture.rotation = request.rotation
        picture.plane_count = request.plane_count
        let places = request.planes
        let all = [places.0, places.1, places.2, places.3].prefix(Int(min(4, request.plane_count)))
        var planes: [inlet_plane] = unsafe []
        for place in all {
            guard place.offset < UInt64(slotLength) else { throw Self.confused }
            unsafe planes.append(
                inlet_plane(
                    data: memory, length: UInt64(slotLength), offset: place.offset, stride: place.stride))
        }
        unsafe PlaneArray.write(to: &picture.planes, planes)
    }

    private static func host(wakeDescriptor: Int32) -> UnsafePointer<inlet_sink_host> {
        let host = UnsafeMutablePointer<inlet_sink_host>.allocate(capacity: 1)
        // The context is the descriptor's number: nothing else is needed.
        unsafe host.initialize(
            to: inlet_sink_host(
                size: UInt32(MemoryLayout<inlet_sink_host>.size), wake_fd: wakeDescriptor,
                context: UnsafeMutableRawPointer(bitPattern: Int(wakeDescriptor)),
                is_cancelled: { Descriptors.isReadable(Int32(truncatingIfNeeded: Int(bitPattern: $0))) ? 1 : 0 },
                request_key_frame: { _ in HostChannel.shared.note(INLET_MESSAGE_KEY_FRAME) }))
        return unsafe UnsafePointer(host)
    }

    private static let confused = PluginFailure(
        INLET_ERROR_INTERNAL, "Inlet's message does not hold together. Report this.")
}
