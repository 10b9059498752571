/// A camera, or another device with pictures, as it was when it was looked at.
public struct V4L2DeviceInfo: Sendable, Hashable {
    /// The device node, such as `/dev/video0`. It may be another one after the next plug-in.
    public var node: String
    /// Which device it is.
    public var identity: V4L2Identity
    /// The kernel driver, such as `uvcvideo`.
    public var driver: String
    /// Its version, which is the kernel's for drivers that come with it.
    public var driverVersion: String
    /// What it can do.
    public var capabilities: V4L2Capabilities
    /// Its formats. Empty where it could not be opened.
    public var formats: [V4L2FormatInfo]
    /// Why it could not be looked into, where that is so: no permission, say.
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

/// What a device node can do: `V4L2_CAP_*` of `linux/videodev2.h`.
public struct V4L2Capabilities: OptionSet, Sendable, Hashable {
    /// The driver's bits.
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Gives pictures, each in one piece of memory.
    public static let capture = V4L2Capabilities(rawValue: 0x0000_0001)
    /// Takes pictures, each in one piece of memory.
    public static let output = V4L2Capabilities(rawValue: 0x0000_0002)
    /// Gives pictures whose planes may lie apart.
    public static let multiplanarCapture = V4L2Capabilities(rawValue: 0x0000_1000)
    /// Takes pictures whose planes may lie apart.
    public static let multiplanarOutput = V4L2Capabilities(rawValue: 0x0000_2000)
    /// Turns pictures into others: a codec or scaler, no camera.
    public static let memoryToMemory = V4L2Capabilities(rawValue: 0x0000_C000)
    /// Can be read like a file.
    public static let readWrite = V4L2Capabilities(rawValue: 0x0100_0000)
    /// Hands over buffers.
    public static let streaming = V4L2Capabilities(rawValue: 0x0400_0000)

    /// Whether it gives pictures: a camera, a grabber.
    public var isCapture: Bool {
        !isDisjoint(with: [.capture, .multiplanarCapture]) && isDisjoint(with: .memoryToMemory)
    }
    /// Whether it takes pictures: a loopback, a display.
    public var isOutput: Bool {
        !isDisjoint(with: [.output, .multiplanarOutput]) && isDisjoint(with: .memoryToMemory)
    }
}
