import CV4L2
import Dispatch

extension V4L2Controls {
    /// Returns every control that changes from now on, with its new value, no matter which program set it. Some cameras
    /// also report their own changes.
    ///
    /// Nothing is polled. The stream ends when its reader stops, or with the device.
    public func changes() -> AsyncStream<V4L2Control> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: V4L2Control.self, bufferingPolicy: .bufferingNewest(256))
        let device: V4L2Device
        do {
            // Events belong to a descriptor, so each reader opens its own.
            device = try V4L2Device(node: node)
        } catch {
            continuation.finish()
            return stream
        }
        for control in device.controls() { device.subscribe(V4L2_EVENT_CTRL, id: control.id) }
        do {
            let watcher = try PriorityWatcher(device) { event in
                switch event {
                case .controlChanged(let id): if let control = device.control(id: id) { continuation.yield(control) }
                case .gone: continuation.finish()
                case .sourceChanged, .ended: break
                }
            }
            continuation.onTermination = { _ in watcher.stop() }
            try watcher.start()
        } catch {
            continuation.finish()
        }
        return stream
    }
}
