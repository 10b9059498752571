/// The identity of a camera, independent of the name of its node.
public struct V4L2Identity: Sendable, Hashable {
    /// The name that the driver gives the device, such as `HD Pro Webcam C920`.
    public var name: String
    /// The port that it is plugged into, as the driver names it, such as `usb-0000:00:14.0-2`.
    public var bus: String
    /// The number of the node among those of its device: a webcam's pictures are 0, its metadata 1.
    public var index: Int
    /// The name of its link in `/dev/v4l/by-id`, which udev makes for USB devices.
    public var id: String?
    /// The name of its link in `/dev/v4l/by-path`.
    public var path: String?
    /// The serial number, if the device has one.
    public var serial: String?

    public init(
        name: String, bus: String, index: Int = 0, id: String? = nil, path: String? = nil, serial: String? = nil
    ) {
        self.name = name
        self.bus = bus
        self.index = index
        self.id = id
        self.path = path
        self.serial = serial
    }

    /// Returns whether both are the same camera.
    ///
    /// A camera with a serial number is recognised at any port, if its name is the same, because some vendors give all
    /// their cameras one number. A camera without a serial number is recognised by its port.
    public func isSameDevice(as other: V4L2Identity) -> Bool {
        guard name == other.name, index == other.index else { return false }
        if let serial, let otherSerial = other.serial { return serial == otherSerial }
        return bus == other.bus
    }
}
