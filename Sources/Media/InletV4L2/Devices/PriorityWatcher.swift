import CV4L2
import Glibc
import InletCore
import InletSystem
import Synchronization

// Unsafe: waits in `poll`.
/// Waits for a device's events on its own thread: they are `poll`'s POLLPRI, for which Dispatch has no source.
final class PriorityWatcher: Sendable {
    private let device: V4L2Device
    private let handler: @Sendable (V4L2Event) -> Void
    private let isStopped = Atomic(false)
    private let wakeUp: WakeUpSignal

    /// - Throws: ``InletError/Code/resourceExhausted`` if no descriptor is left.
    init(_ device: V4L2Device, handler: @escaping @Sendable (V4L2Event) -> Void) throws(InletError) {
        self.device = device
        self.handler = handler
        wakeUp = try WakeUpSignal()
    }

    /// - Throws: ``InletError/Code/resourceExhausted`` if no thread can be started.
    func start() throws(InletError) { try SystemThread.start(named: "inlet-events") { self.run() } }

    /// Stops the thread. Safe from any thread; returns at once.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeUp.raise()
    }

    private func run() {
        while !isStopped.load(ordering: .acquiring) {
            var polled = [
                pollfd(fd: device.descriptor, events: Int16(POLLPRI), revents: 0),
                pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&polled, 2, -1) > 0 else { continue }
            while let event = device.nextEvent() {
                handler(event)
                if event == .gone { return }
            }
            if Int32(polled[0].revents) & POLLPRI == 0, polled[0].revents != 0 {
                handler(.gone)
                return
            }
        }
    }
}
