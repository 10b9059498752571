import CInletPlugin
import InletPluginIPC
import InletSystem
import Synchronization

// Unsafe: is the context of the functions that a plug-in's source may call.
/// The state that the functions of `inlet_source_host` need. Safe from any thread, except ``slots``.
final class SourceCallbacks: Sendable {
    /// Used by the main thread only.
    let slots: Handover<SlotProvider>
    private let wakeDescriptor: Int32
    private let wanted = Mutex(inlet_demand())

    init(slots: SlotProvider, wakeDescriptor: Int32) {
        self.slots = Handover(slots)
        self.wakeDescriptor = wakeDescriptor
    }

    /// The current demand of the sinks.
    var demand: inlet_demand {
        get { wanted.withLock { $0 } }
        set { wanted.withLock { $0 = newValue } }
    }

    /// Whether the instance is cancelled.
    var isCancelled: Bool { Descriptors.isReadable(wakeDescriptor) }

    /// Makes the struct for the plug-in, which is never freed: a thread of the plug-in may call it until the end.
    static func host(of callbacks: SourceCallbacks) -> UnsafePointer<inlet_source_host> {
        let host = UnsafeMutablePointer<inlet_source_host>.allocate(capacity: 1)
        unsafe host.initialize(
            to: inlet_source_host(
                size: UInt32(MemoryLayout<inlet_source_host>.size), wake_fd: callbacks.wakeDescriptor,
                context: Unmanaged.passRetained(callbacks).toOpaque(),
                is_cancelled: { unsafe SourceCallbacks.of($0)?.isCancelled == true ? 1 : 0 },
                report_progress: { _ in HostChannel.shared.note(INLET_MESSAGE_PROGRESS) },
                count_drop: { (_, reason, count) in
                    unsafe HostChannel.shared.note(INLET_MESSAGE_DROP, text: PluginText.read(reason), count: count)
                },
                begin_interruption: { (_, reason) in
                    let text = unsafe PluginText.read(reason)
                    // Without text the message would mean the end of the interruption.
                    HostChannel.shared.note(INLET_MESSAGE_INTERRUPTION, text: text.isEmpty ? "unavailable" : text)
                },
                end_interruption: { _ in HostChannel.shared.note(INLET_MESSAGE_INTERRUPTION, text: "") },
                get_demand: { (context, demand) in unsafe SourceCallbacks.of(context)?.write(to: demand) },
                get_slot: { (context, format, width, height, slot, error) in
                    unsafe SourceCallbacks.getSlot(context, format, width, height, slot, error)
                }))
        return unsafe UnsafePointer(host)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> SourceCallbacks? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<SourceCallbacks>.fromOpaque(context).takeUnretainedValue()
    }

    /// Writes as much of the demand as the plug-in's struct has.
    private func write(to place: UnsafeMutablePointer<inlet_demand>?) {
        guard let place = unsafe place else { return }
        _ = unsafe SizedStruct.write(demand, to: place, least: MemoryLayout<UInt32>.size)
    }

    private static func getSlot(
        _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ width: UInt32, _ height: UInt32,
        _ place: UnsafeMutablePointer<inlet_slot>?, _ report: UnsafeMutablePointer<inlet_error>?
    ) -> inlet_result {
        do throws(PluginFailure) {
            guard PluginEnvironment.isMainThread else {
                throw PluginFailure(
                    INLET_ERROR_INTERNAL, "get_slot is called on another thread than next. Call it within next.")
            }
            guard let callbacks = unsafe of(context), let place = unsafe place else {
                throw PluginFailure(INLET_ERROR_INTERNAL, "get_slot is called without its context or a place.")
            }
            let slots = callbacks.slots.value
            let grant = unsafe try slots.grant(PluginText.read(format), width: width, height: height)
            guard let memory = unsafe slots.memory(of: grant.slot)?.baseAddress else { return inlet_result(INLET_OK) }
            var slot = inlet_slot()
            slot.id = UInt32(grant.slot)
            slot.plane_count = UInt32(grant.layout.planes.count)
            unsafe PlaneArray.write(
                to: &slot.planes,
                grant.layout.planes.map { plane in
                    // Each plane's memory consists only of its rows, so that a plug-in's checks detect its end.
                    unsafe inlet_plane(
                        data: (memory + plane.offset).assumingMemoryBound(to: UInt8.self),
                        length: UInt64(plane.stride * plane.rows), offset: 0, stride: Int64(plane.stride))
                })
            guard unsafe SizedStruct.write(slot, to: place, least: SizedStruct.leastSlot) else {
                throw PluginFailure(
                    INLET_ERROR_INTERNAL,
                    "get_slot is called with an inlet_slot that states no size. Set its size to sizeof(inlet_slot).")
            }
            return inlet_result(INLET_OK)
        } catch {
            if let report = unsafe report {
                unsafe report.pointee.native_code = error.nativeCode
                unsafe FixedText.write(error.message, to: &report.pointee.message)
            }
            return error.result
        }
    }
}
