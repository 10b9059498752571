import CInletPlugin
import InletPluginIPC

// Unsafe: calls the functions of a plug-in's source and reads its structs.
/// An instance of a source: calls the plug-in as Inlet's messages ask, and answers. Main thread.
@safe final class SourceInstance: PluginInstance {
    private let interface: inlet_source_interface
    private let source: OpaquePointer
    private let inbox: MessageInbox
    private let slots: SlotProvider
    private let callbacks: SourceCallbacks
    private var isOpened = false

    /// Calls the plug-in's `create`.
    init(
        _ interface: inlet_source_interface, _ configuration: ConfigurationMemory, _ inbox: MessageInbox
    ) throws(PluginFailure) {
        self.interface = interface
        self.inbox = inbox
        slots = SlotProvider(inbox)
        callbacks = SourceCallbacks(slots: slots, wakeDescriptor: inbox.wakeDescriptor)
        var source: OpaquePointer?
        var error = inlet_error.empty
        let host = unsafe SourceCallbacks.host(of: callbacks)
        let result = unsafe interface.create?(configuration.configuration, host, &source, &error)
        guard let result, result == INLET_OK else {
            throw PluginFailure(result ?? 0, error, of: "create")
        }
        guard let source = unsafe source else {
            throw PluginFailure("The plug-in's create succeeds without an instance. Report this to its author.")
        }
        unsafe self.source = source
    }

    func answerCreate() { HostChannel.shared.answer(INLET_OK) }

    func handle(_ type: Int) throws(PluginFailure) -> Bool {
        switch type {
        case INLET_MESSAGE_OPEN: try inbox.message.read(inlet_message.self).map(open)
        case INLET_MESSAGE_NEXT: try inbox.message.read(inlet_next.self).map(next)
        case INLET_MESSAGE_PAUSE: try call("pause") { unsafe interface.pause?(source, &$0) }
        case INLET_MESSAGE_RESUME: try call("resume") { unsafe interface.resume?(source, &$0) }
        case INLET_MESSAGE_SEGMENT: try inbox.message.read(inlet_segment.self).map(slots.adopt)
        default: return false
        }
        return true
    }

    func close(by deadline: Int64) {
        if isOpened { unsafe interface.close?(source) }
        isOpened = false
        unsafe interface.destroy?(source)
    }

    private func open(_ request: inlet_message) throws(PluginFailure) {
        guard !isOpened else { throw PluginFailure(INLET_ERROR_INTERNAL, "Inlet opens a source twice. Report this.") }
        var stream = unsafe inlet_stream()
        unsafe stream.size = UInt32(MemoryLayout<inlet_stream>.size)
        var error = inlet_error.empty
        // A failed open may leave something for close.
        isOpened = true
        let result = unsafe interface.open?(source, request.deadline, &stream, &error) ?? 0
        guard result == INLET_OK else { throw PluginFailure(result, error, of: "open") }
        let parameterSets = unsafe try ItemWriter.parameterSets(stream.parameter_sets, stream.parameter_sets_length)
        var answer = unsafe inlet_wire_stream(stream)
        answer.parameter_sets_length = UInt32(parameterSets.count)
        answer.can_pause = unsafe interface.pause != nil && interface.resume != nil ? 1 : 0
        HostChannel.shared.answer(answer, parameterSets)
    }

    private func next(_ request: inlet_next) throws(PluginFailure) {
        callbacks.demand = request.demand
        var item = unsafe inlet_item()
        unsafe item.size = UInt32(MemoryLayout<inlet_item>.size)
        unsafe item.pts = .min
        unsafe item.capture_time = .min
        unsafe item.wall_clock = .min
        unsafe item.packet.dts = .min
        var error = inlet_error.empty
        slots.begin(freeSlots: request.free_slots)
        let result = unsafe interface.next?(source, request.deadline, &item, &error) ?? 0
        slots.end()
        switch Int(result) {
        case INLET_OK:
            // Borrowed memory has been copied, or the item refused, by then.
            defer { unsafe item.release?(item.release_data) }
            let (answer, trailer) = unsafe try ItemWriter(slots: slots).write(item)
            HostChannel.shared.answer(answer, trailer)
        case INLET_END, INLET_AGAIN: HostChannel.shared.answer(Int(result))
        default: throw PluginFailure(result, error, of: "next")
        }
    }

    private func call(_ name: String, _ body: (inout inlet_error) -> inlet_result?) throws(PluginFailure) {
        guard unsafe interface.pause != nil && interface.resume != nil else {
            throw PluginFailure(INLET_ERROR_UNSUPPORTED, "The plug-in cannot pause.")
        }
        var error = inlet_error.empty
        let result = body(&error) ?? 0
        guard result == INLET_OK else { throw PluginFailure(result, error, of: name) }
        HostChannel.shared.answer(INLET_OK)
    }
}
