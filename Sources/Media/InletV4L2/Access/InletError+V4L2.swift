import Glibc
package import InletCore
import InletSystem

extension InletError {
    /// Creates the error for the errno of a call on a V4L2 device, with advice for users.
    ///
    /// Every errno of V4L2 becomes an `InletError` through this initializer.
    ///
    /// - Parameters:
    ///   - number: the `errno`.
    ///   - operation: the call, such as `VIDIOC_STREAMON`.
    ///   - node: the device node.
    ///   - holders: returns the processes that hold the device. The default reads `/proc`, only for EBUSY.
    package init(
        v4l2 number: Int32, operation: String, node: String,
        holders: (_ node: String) -> [String] = { DeviceHolders.names(of: $0) }
    ) {
        let (code, advice): (Code, String) =
            switch number {
            case EBUSY: (.busy, "Another program uses the device: \(DeviceHolders.sentence(holders(node)))")
            case EACCES, EPERM:
                (
                    .permissionDenied,
                    """
                    This user may not use the device. Cameras belong to the group video: `sudo usermod -aG video $USER`, then log in \
                    again. In a container, pass the device (--device=\(node)) and the group (--group-add video).
                    """
                )
            case ENOENT: (.notFound, "The device does not exist. `inlet devices` lists the devices.")
            case _ where (number == ENXIO || number == ENODEV) && operation == "open":
                (
                    .notFound,
                    """
                    This node has no driver\(SystemFiles.deviceNumber(of: node).map { " (\($0))" } ?? ""). `inlet devices` lists the \
                    devices. In a container, a passed node remains when its camera is plugged in again under another number: mount \
                    /dev instead (--volume /dev:/dev --device-cgroup-rule='c 81:* rmw').
                    """
                )
            case ENODEV, ENXIO, ESHUTDOWN, EREMOTEIO:
                (.disconnected, "The device was unplugged or lost its power.")
            case ENOSPC:
                (
                    .noBandwidth,
                    """
                    The USB bus has no bandwidth left for this mode. Cameras on one bus or hub share it: 280 Mbit/s at high speed (USB 2). \
                    Take a smaller size, a lower rate or format=MJPG, or plug the camera into another bus.
                    """
                )
            case EIO:
                (
                    .inputOutput,
                    "The device or its driver failed. If that continues, plug it in again, and check the kernel's log (dmesg)."
                )
            case ENOTTY: (.unsupported, "The driver does not support this, or the node is not a video device.")
            case EINVAL where ["VIDIOC_REQBUFS", "VIDIOC_QBUF", "VIDIOC_DQBUF", "VIDIOC_STREAMON"].contains(operation):
                (.inputOutput, "The driver refuses to stream at present. If that continues, plug the camera in again.")
            case EINVAL: (.unsupported, "The driver refuses the values. `inlet devices` lists those that it accepts.")
            case ENOMEM, ENOBUFS:
                (.resourceExhausted, "The driver has no memory for its buffers. Use fewer or smaller ones.")
            case EMFILE, ENFILE: (.resourceExhausted, "There are too many open files. Raise the limit (ulimit -n).")
            case ETIMEDOUT, ETIME, EPROTO, EILSEQ, EOVERFLOW:
                (
                    .inputOutput,
                    "The device does not answer correctly. Plug it in again, or try another cable or port."
                )
            case ERANGE: (.invalidConfiguration, "The value is outside the range of the control.")
            case ENOLINK, ENOLCK:
                (.disconnected, "The input has no signal, or an unstable one. Check the connected device.")
            default: (.inputOutput, "")
            }
        let reason = SystemErrorText.of(number)
        self.init(
            code, "\(advice.isEmpty ? "The device failed." : advice) (\(operation) on \(node): \(reason))",
            context: Context(operation: operation, nativeCode: number))
    }
}
