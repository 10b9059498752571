import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import Synchronization

// Unsafe: is the context of the functions that a plug-in's source may call.
/// The state that the functions of `inlet_source_host` need for a source in this process. Safe from any thread.
@safe final class SourceCalls: Sendable {
    private let context: SourceContext
    private let wakeUp: WakeUpSignal?
    private let pool = PicturePool()
    private let slot = Mutex(Slot())
    /// The reasons of drops so far, whose number is limited.
    private let reasons = Mutex(Set<DropReason>())

    private struct Slot {
        var memory: PooledPicture?
        var layout: PictureLayout?
        var format = ""
        var size = ImageSize(width: 0, height: 0)
        var id: UInt32 = 0
        var isOffered = false
    }

    /// A slot that a plug-in has filled.
    struct Filled {
        let memory: PooledPicture
        let layout: PictureLayout
        let format: String
        let size: ImageSize
    }

    private static let mostReasons = 32

    init(_ context: SourceContext) throws(InletError) {
        self.context = context
        // A bridge with a manual clock has no descriptor.
        wakeUp = context.wakeUpDescriptor >= 0 ? nil : try WakeUpSignal()
    }

    /// Begins a call of `next`, during which slots are handed out.
    func begin() { slot.withLock { $0.isOffered = true } }

    /// Ends the call, and returns the slot that it has filled; nil if it got none of this id.
    func end(taking id: UInt32? = nil) -> Filled? {
        slot.withLock { slot in
            slot.isOffered = false
            defer { slot.memory = nil }
            guard let id, id == slot.id, let memory = slot.memory, let layout = slot.layout else { return nil }
            return Filled(memory: memory, layout: layout, format: slot.format, size: slot.size)
        }
    }

    /// Makes the struct for a plug-in. The caller frees it after `destroy`, and releases this.
    static func makeHost(of calls: SourceCalls) -> UnsafeMutablePointer<inlet_source_host> {
        let host = UnsafeMutablePointer<inlet_source_host>.allocate(capacity: 1)
        unsafe host.initialize(
            to: inlet_source_host(
                size: UInt32(MemoryLayout<inlet_source_host>.size),
                wake_fd: calls.wakeUp?.descriptor ?? calls.context.wakeUpDescriptor,
                context: Unmanaged.passRetained(calls).toOpaque(),
                is_cancelled: { unsafe SourceCalls.of($0)?.context.isCancelled == true ? 1 : 0 },
                report_progress: { unsafe SourceCalls.of($0)?.context.reportProgress() },
                count_drop: { (context, reason, count) in
                    unsafe SourceCalls.of(context)?.countDrop(CText.name(reason), count)
                },
                begin_interruption: { (context, reason) in
                    let text = unsafe CText.read(reason)
                    unsafe SourceCalls.of(context)?.context.beginInterruption(text.isEmpty ? "unavailable" : text)
                },
                end_interruption: { unsafe SourceCalls.of($0)?.context.endInterruption() },
                get_demand: { (context, demand) in unsafe SourceCalls.of(context)?.write(to: demand) },
                get_slot: { (context, format, width, height, slot, error) in
                    guard let calls = unsafe SourceCalls.of(context), let slot = unsafe slot else {
                        return inlet_result(INLET_ERROR_INTERNAL)
                    }
                    return unsafe calls.getSlot(CText.name(format), width, height, slot, error)
                }))
        return unsafe host
    }

    /// Frees the result of ``makeHost(of:)``.
    static func free(_ host: UnsafeMutablePointer<inlet_source_host>) {
        if let context = unsafe host.pointee.context { unsafe Unmanaged<SourceCalls>.fromOpaque(context).release() }
        unsafe host.deinitialize(count: 1)
        unsafe host.deallocate()
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> SourceCalls? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<SourceCalls>.fromOpaque(context).takeUnretainedValue()
    }

    private func countDrop(_ name: String, _ count: UInt64) {
        let isWord = (1...32).contains(name.utf8.count) && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
        let reason = isWord ? DropReason(name) : .lostBySource
        let isKnown = reasons.withLock { reasons in
            if reasons.count < Self.mostReasons { reasons.insert(reason) }
            return reasons.contains(reason)
        }
        context.countDrop(isKnown ? reason : .lostBySource, count)
    }

    /// Writes as much of the demand as the plug-in's struct has.
    private func write(to place: UnsafeMutablePointer<inlet_demand>?) {
        guard let place = unsafe place else { return }
        var demand = inlet_demand(context.demand)
        demand.key_frame_requests = UInt32(truncatingIfNeeded: context.keyFrameRequests)
        _ = unsafe SizedStruct.write(demand, to: place, least: MemoryLayout<UInt32>.size)
    }

    private func getSlot(
        _ format: String, _ width: UInt32, _ height: UInt32, _ place: UnsafeMutablePointer<inlet_slot>,
        _ report: UnsafeMutablePointer<inlet_error>?
    ) -> inlet_result {
        func fail(_ result: Int, _ message: String) -> inlet_result {
            if let report = unsafe report { unsafe FixedText.write(message, to: &report.pointee.message) }
            return inlet_result(result)
        }
        guard PictureLayout.knows(format) else {
            return fail(
                INLET_ERROR_UNSUPPORTED,
                "The pixel format '\(format)' is not one that Inlet takes from a plug-in. Use FFmpeg's name of a common "
                    + "one, such as nv12, yuv420p or bgra.")
        }
        return slot.withLock { slot in
            guard slot.isOffered else {
                return fail(INLET_ERROR_INTERNAL, "get_slot is called outside of next. Call it within it.")
            }
            // Otherwise the memory would become another picture's while the plug-in still writes to it.
            guard slot.memory == nil else {
                return fail(INLET_ERROR_INTERNAL, "get_slot is called twice within next. Use the slot it returned.")
            }
            let size = ImageSize(width: Int(width), height: Int(height))
            if slot.format != format || slot.size != size || slot.layout == nil {
                guard let layout = PictureLayout(format, width: width, height: height) else {
                    return fail(
                        INLET_ERROR_INVALID_CONFIGURATION,
                        "A picture of \(width)x\(height) is not possible: each side is 1 to "
                            + "\(PictureLayout.largestSide).")
                }
                (slot.format, slot.size, slot.layout) = (format, size, layout)
            }
            guard let layout = slot.layout else { return inlet_result(INLET_ERROR_INTERNAL) }
            let picture = pool.take(layout.length)
            slot.memory = picture
            slot.id &+= 1
            var granted = inlet_slot()
            granted.id = slot.id
            granted.plane_count = UInt32(layout.planes.count)
            unsafe withUnsafeMutableBytes(of: &granted.planes) { bytes in
                let planes = unsafe bytes.assumingMemoryBound(to: inlet_plane.self)
                for (index, plane) in layout.planes.enumerated() {
                    let rows = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: picture.memory[plane.offset..<plane.offset + plane.stride * plane.rows])
                    unsafe planes[index] = inlet_plane(
                        data: rows.baseAddress?.assumingMemoryBound(to: UInt8.self), length: UInt64(rows.count),
                        offset: 0, stride: Int64(plane.stride))
                }
            }
            guard unsafe SizedStruct.write(granted, to: place, least: SizedStruct.leastSlot) else {
                return fail(
                    INLET_ERROR_INTERNAL,
                    "get_slot is called with an inlet_slot that states no size. Set its size to sizeof(inlet_slot).")
            }
            return inlet_result(INLET_OK)
        }
    }
}
