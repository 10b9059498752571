import Dispatch
public import InletCore
import Synchronization

extension V4L2Devices {
    /// A device that appeared, disappeared or changed.
    public enum Change: Sendable, Hashable {
        /// The device was plugged in, or can be used now that its permissions are set.
        case appeared(V4L2DeviceInfo)
        /// The device is no longer there.
        case disappeared(V4L2DeviceInfo)
    }

    /// Returns the changes from now on, starting with every present device.
    ///
    /// Nothing is polled: the kernel reports nodes that appear and disappear. The stream ends when its reader stops.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system has no more watches.
    public static func changes(_ role: Role = .capture) throws(InletError) -> AsyncStream<Change> {
        let watch = try DeviceWatch()
        let queue = DispatchQueue(label: "inlet.devices")
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(256))
        let state = KnownDevices()
        let look: @Sendable () -> Void = {
            for change in state.replace(by: list(role)) { continuation.yield(change) }
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor, queue: queue)
        source.setEventHandler {
            watch.drain()
            look()
        }
        source.setCancelHandler { withExtendedLifetime(watch) {} }
        let handle = SourceHandle(source)
        continuation.onTermination = { _ in handle.cancel() }
        queue.async(execute: look)
        source.activate()
        return stream
    }

    /// Returns the changes from one list to the next.
    static func changes(from old: [V4L2DeviceInfo], to new: [V4L2DeviceInfo]) -> [Change] {
        old.filter { !new.contains($0) }.map { .disappeared($0) }
            + new.filter { !old.contains($0) }.map { .appeared($0) }
    }
}

/// The devices of the last query.
private final class KnownDevices: Sendable {
    private let devices = Mutex<[V4L2DeviceInfo]>([])

    func replace(by new: [V4L2DeviceInfo]) -> [V4L2Devices.Change] {
        devices.withLock { known in
            defer { known = new }
            return V4L2Devices.changes(from: known, to: new)
        }
    }
}

// Unsafe: has a dispatch source that any thread may cancel.
/// `@unchecked Sendable`: a dispatch source may be cancelled from any thread, and nothing else is done with it here.
private final class SourceHandle: @unchecked Sendable {
    private let source: any DispatchSourceRead
    init(_ source: any DispatchSourceRead) { self.source = source }
    func cancel() { source.cancel() }
}
