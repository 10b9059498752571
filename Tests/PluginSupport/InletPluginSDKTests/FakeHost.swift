import CInletPlugin
import Glibc
import InletSystem
import Synchronization

/// A host of one instance, which records the calls of its functions.
final class FakeHost: Sendable {
    /// The recorded calls of the instance.
    struct Notes {
        var progress = 0
        var drops: [String: UInt64] = [:]
        var interruptions: [String?] = []
    }

    private let notes = Mutex(Notes())
    private let cancelled = Atomic(false)
    private let wake: WakeUpSignal
    private let demand: Mutex<inlet_demand>

    init() throws {
        wake = try WakeUpSignal()
        var demand = inlet_demand()
        demand.wants_pictures = 1
        self.demand = Mutex(demand)
    }

    var told: Notes { notes.withLock { $0 } }

    func cancel() {
        cancelled.store(true, ordering: .sequentiallyConsistent)
        wake.raise()
    }

    /// Sets a demand: a rate, whether packets are wanted, and the third key-frame request.
    func want(_ rate: inlet_rational, packets: Bool) {
        demand.withLock {
            $0.frame_rate = rate
            $0.wants_packets = packets ? 1 : 0
            $0.key_frame_requests = 3
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> FakeHost? {
        unsafe context.map { unsafe Unmanaged<FakeHost>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The functions. The host must outlive the instance.
    var functions: inlet_source_host {
        unsafe inlet_source_host(
            size: UInt32(MemoryLayout<inlet_source_host>.size), wake_fd: wake.descriptor,
            context: Unmanaged.passUnretained(self).toOpaque(),
            is_cancelled: { unsafe FakeHost.of($0)?.cancelled.load(ordering: .sequentiallyConsistent) == true ? 1 : 0 },
            report_progress: { unsafe FakeHost.of($0)?.notes.withLock { $0.progress += 1 } },
            count_drop: { context, reason, count in
                guard let reason = unsafe reason.flatMap({ unsafe String(validatingCString: $0) }) else { return }
                unsafe FakeHost.of(context)?.notes.withLock { $0.drops[reason, default: 0] += count }
            },
            begin_interruption: { context, reason in
                let reason = unsafe reason.flatMap { unsafe String(validatingCString: $0) }
                unsafe FakeHost.of(context)?.notes.withLock { $0.interruptions.append(reason) }
            },
            end_interruption: { unsafe FakeHost.of($0)?.notes.withLock { $0.interruptions.append(nil) } },
            get_demand: { context, target in
                guard let host = unsafe FakeHost.of(context), let target = unsafe target else { return }
                unsafe target.pointee = host.demand.withLock { $0 }
            },
            get_slot: nil)
    }
}
