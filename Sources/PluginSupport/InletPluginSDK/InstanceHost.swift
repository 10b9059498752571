import CInletPlugin
import InletCore
import Synchronization

// Unsafe: calls the host's functions for an instance.
/// The host functions that an instance may call until it is destroyed. Safe from any thread.
@safe final class InstanceHost: Sendable {
    // A null struct after the end. The lock keeps `end` from returning while a call runs.
    private let functions: Mutex<Functions>
    /// Readable once the instance is cancelled.
    let wakeDescriptor: Int32

    // The pointers lead into the host, which may be called on any thread, and are used under the lock only.
    @safe private struct Functions: @unchecked Sendable {
        var host: inlet_source_host?
    }

    init(_ host: inlet_source_host) {
        unsafe wakeDescriptor = host.wake_fd
        unsafe functions = Mutex(Functions(host: host))
    }

    /// Ends the use of the host: later calls do nothing.
    func end() { functions.withLock { unsafe $0.host = nil } }

    /// Whether the host has cancelled the instance.
    var isCancelled: Bool {
        unsafe with { host in unsafe host.is_cancelled.map { unsafe $0(host.context) != 0 } } ?? false
    }

    /// Reports that data arrived.
    func reportProgress() {
        unsafe with { host in unsafe host.report_progress?(host.context) }
    }

    /// Counts pictures that the source dropped.
    func countDrop(_ reason: DropReason, _ count: UInt64) {
        unsafe with { host in
            unsafe reason.description.withCString { unsafe host.count_drop?(host.context, $0, count) }
        }
    }

    /// Reports the beginning of an interruption, or its end if nil.
    func changeInterruption(_ reason: String?) {
        unsafe with { host in
            guard let reason else {
                unsafe host.end_interruption?(host.context)
                return
            }
            unsafe reason.withCString { unsafe host.begin_interruption?(host.context, $0) }
        }
    }

    /// The present demand of the sinks, and the number of key-frame requests so far.
    var demand: (wanted: SourceDemand, keyFrameRequests: Int) {
        let demand: inlet_demand? = unsafe with { host in
            guard let ask = unsafe host.get_demand else { return nil }
            var demand = inlet_demand()
            demand.size = UInt32(MemoryLayout<inlet_demand>.size)
            unsafe ask(host.context, &demand)
            return demand
        }
        guard let demand else { return (.everything, 0) }
        var wanted = SourceDemand(
            maximumFrameRate: demand.frame_rate.rational,
            largestSize: demand.width > 0 && demand.height > 0
                ? ImageSize(width: Int(demand.width), height: Int(demand.height)) : nil)
        wanted.pictures = demand.wants_pictures != 0
        wanted.packets = demand.wants_packets != 0
        return (wanted, Int(demand.key_frame_requests))
    }

    @discardableResult
    private func with<Value: Sendable>(_ body: (inlet_source_host) -> Value?) -> Value? {
        functions.withLock { functions in unsafe functions.host.flatMap { unsafe body($0) } }
    }
}
