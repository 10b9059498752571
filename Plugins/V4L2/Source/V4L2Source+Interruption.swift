import InletCore
import InletV4L2
import Logging

extension V4L2Source {
    /// The interval between attempts to open a device that another program uses. No event reports that it is free.
    static let busyInterval = Duration.seconds(1)

    /// Tries to open the device, and repeats the attempt while another program uses it.
    ///
    /// The interruption ends with the attempt that succeeds; it has no deadline.
    ///
    /// - Parameters:
    ///   - waits: whether to wait; otherwise the error is thrown at once.
    ///   - node: returns the device node, whose users are named.
    ///   - attempt: opens the device.
    func whileBusy<Value>(
        waits: Bool, node: () -> String?, _ context: SourceContext, _ attempt: () throws(InletError) -> Value
    ) throws(InletError) -> Value {
        while true {
            do throws(InletError) {
                let value = try attempt()
                tell(interruption.noteOwned(), context)
                return value
            } catch {
                guard error.code == .busy, waits else { throw error }
                if !interruption.isTaken {
                    context.logger.debug("\(error.message)")
                    tell(interruption.noteTaken(by: node().map { DeviceHolders.names(of: $0) } ?? []), context)
                }
            }
            try context.sleep(until: context.clock.now + Self.busyInterval)
        }
    }

    /// Reads the state of the shutter, and begins or ends an interruption accordingly.
    ///
    /// - Returns: whether pictures are delivered again.
    @discardableResult
    func followShutter(_ camera: Camera, _ context: SourceContext) -> Bool {
        let withheld = interruption.withholdsPictures
        let isClosed = camera.isCovered
        let change = interruption.noteShutter(isClosed: isClosed)
        if configuration.shutter == .deliver, isClosed {
            context.logger.notice(
                "The camera's shutter is closed (control \(V4L2Control.privacy)), so its pictures are black."
            )
        }
        tell(change, context)
        return withheld && !interruption.withholdsPictures
    }

    private func tell(_ change: CameraInterruption.Change?, _ context: SourceContext) {
        switch change {
        case .begin(let reason): context.beginInterruption(reason)
        case .end: context.endInterruption()
        case nil: break
        }
    }
}
