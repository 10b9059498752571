import CV4L2
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Waits for a device's events on a thread of its own: they are `poll`'s POLLPRI, for which Dispatch has no source.
@safe final class PriorityWatcher: Sendable {
    private let device: V4L2Device
    private let handler: @Sendable (V4L2Event) -> Void
    private let isStopped = Atomic(false)
    private let wakeUp: (read: Int32, write: Int32)

    init(_ device: V4L2Device, handler: @escaping @Sendable (V4L2Event) -> Void) {
        self.device = device
        self.handler = handler
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        wakeUp = (ends[0], ends[1])
    }

    deinit {
        close(wakeUp.read)
        close(wakeUp.write)
    }

    func start() {
        var thread = pthread_t()
        let box = unsafe Unmanaged.passRetained(self)
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<PriorityWatcher>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard failure == 0 else {
            unsafe box.release()
            handler(.gone)
            return
        }
        pthread_detach(thread)
    }

    /// From any thread; returns at once.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        _ = unsafe write(wakeUp.write, &byte, 1)
    }

    private func run() {
        while !isStopped.load(ordering: .acquiring) {
            var polled = [
                pollfd(fd: device.descriptor, events: Int16(POLLPRI), revents: 0),
                pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
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
