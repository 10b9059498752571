import InletCore
import InletV4L2

extension V4L2Configuration {
    /// Opens the configured camera or, if one was open before, that same camera, wherever it is now.
    ///
    /// Waits until the deadline for a camera that was unplugged: the kernel signals when it is back.
    ///
    /// - Parameter waitsForDevice: whether to wait; otherwise ``InletError/Code/notFound`` is thrown at once.
    func openCamera(waitsForDevice: Bool, _ context: SourceContext) throws(InletError) -> Camera {
        try context.checkCancellation()
        guard let known = seen?.identity else {
            return try Camera(try V4L2Devices.find(address), configuration: self)
        }
        // Created before the first check, so that nothing is missed in between.
        let watch = try DeviceWatch()
        while true {
            do throws(InletError) {
                return try Camera(try V4L2Devices.find(.identity(known)), configuration: self)
            } catch {
                // A device that has just appeared is not readable until udev has set its permissions.
                guard waitsForDevice, [.notFound, .permissionDenied, .disconnected].contains(error.code)
                else { throw error }
                do throws(InletError) {
                    try watch.wait(context)
                } catch let end {
                    guard end.code == .timedOut else { throw end }
                    throw error
                }
            }
        }
    }
}
