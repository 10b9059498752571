/// A camera, or another video device, as of the time of the query.
public struct V4L2DeviceInfo: Sendable, Hashable {
    /// The device node, such as `/dev/video0`. It may change when the device is plugged in again.
    public var node: String
    /// The identity of the device.
    public var identity: V4L2Identity
    /// The kernel driver, such as `uvcvideo`.
    public var driver: String
    /// The driver's version, which is the kernel's for drivers that are part of it.
    public var driverVersion: String
    /// The device's capabilities.
    public var capabilities: V4L2Capabilities
    /// The device's formats. Empty if it could not be opened.
    public var formats: [V4L2FormatInfo]
    /// The reason why the device could not be queried, such as a missing permission; nil if it could.
    public var trouble: String?

    public init(
        node: String, identity: V4L2Identity, driver: String = "", driverVersion: String = "",
        capabilities: V4L2Capabilities = [], formats: [V4L2FormatInfo] = [], trouble: String? = nil
    ) {
        self.node = node
        self.identity = identity
        self.driver = driver
        self.driverVersion = driverVersion
        self.capabilities = capabilities
        self.formats = formats
        self.trouble = trouble
    }
}

/// The capabilities of a device node: `V4L2_CAP_*` of `linux/videodev2.h`.
public struct V4L2Capabilities: OptionSet, Sendable, Hashable {
    /// The driver's bits.
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Captures pictures, each in one piece of memory.
    public static let capture = V4L2Capabilities(rawValue: 0x0000_0001)
    /// Outputs pictures, each in one piece of memory.
    public static let output = V4L2Capabilities(rawValue: 0x0000_0002)
    /// Captures pictures whose planes may be separate.
    public static let multiplanarCapture = V4L2Capabilities(rawValue: 0x0000_1000)
    /// Outputs pictures whose planes may be separate.
    public static let multiplanarOutput = V4L2Capabilities(rawValue: 0x0000_2000)
    /// Converts pictures: a codec or scaler, not a camera.
    public static let memoryToMemory = V4L2Capabilities(rawValue: 0x0000_C000)
    /// Can be read like a file.
    public static let readWrite = V4L2Capabilities(rawValue: 0x0100_0000)
    /// Exchanges buffers.
    public static let streaming = V4L2Capabilities(rawValue: 0x0400_0000)

    /// Whether the device captures pictures: a camera or another capture device.
    public var isCapture: Bool {
        !isDisjoint(with: [.capture, .multiplanarCapture]) && isDisjoint(with: .memoryToMemory)
    }
    /// Whether the device outputs pictures: a loopback, a display.
    public var isOutput: Bool {
        !isDisjoint(with: [.output, .multiplanarOutput]) && isDisjoint(with: .memoryToMemory)
    }
}
