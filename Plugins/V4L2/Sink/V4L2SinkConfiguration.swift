public import InletCore
public import InletV4L2

/// An output or loopback device, which other programs read as a camera: `v4l2:/dev/video40`.
public struct V4L2SinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The device's address. The default is the first output device.
    public var address: V4L2Address
    /// The pixel format. The default is ``Format-swift.enum/automatic``.
    public var format: Format
    /// The number of buffers requested from the driver, from 2 to 32. The default is 4.
    public var buffers: Int

    /// The quality of JPEGs, from 1 to 100, on libjpeg's scale. The default is 90.
    public var quality: Int

    /// The format of the written pictures.
    public enum Format: String, Sendable, Hashable, ChoiceOptionValue {
        /// The first of the other formats that the device accepts.
        case automatic = "auto"
        /// I420.
        case yu12 = "YU12"
        /// Packed 4:2:2, which every program reads.
        case yuyv = "YUYV"
        /// A JPEG for each picture: the least memory and the most CPU time.
        case mjpeg
    }

    public init(
        _ address: V4L2Address = .first, format: Format = .automatic, buffers: Int = 4, quality: Int = 90
    ) {
        self.address = address
        self.format = format
        self.buffers = buffers
        self.quality = quality
    }

    /// The sink's URI.
    public var redactedURI: String {
        switch address {
        case .node(let node): "v4l2:\(node)"
        case .name(let text): "v4l2:?name=\(text)"
        default: "v4l2:"
        }
    }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { V4L2Sink(self) }

    static let bufferCounts = 2...32
    static let qualities = 1...100
}

extension SinkPlugin {
    /// The plug-in for `v4l2:`: output and loopback devices on Linux.
    public static let v4l2 = SinkPlugin(
        PluginInfo(
            name: "v4l2", schemes: ["v4l2"],
            summary: "Linux output and loopback devices: a virtual camera for other programs.",
            usage: "v4l2:/dev/video40 or v4l2:?name=...; `inlet devices --outputs` lists them",
            options: [
                OutputOptions.name.description, OutputOptions.format.description, OutputOptions.buffers.description,
                OutputOptions.quality.description,
            ],
            examples: ["v4l2:/dev/video40", "v4l2:?name=Loopback&format=YUYV"])
    ) { uri, values in
        var address = V4L2Address.first
        if !uri.rest.isEmpty {
            let node = Int(uri.rest) != nil ? "/dev/video\(uri.rest)" : uri.rest
            address = .node(node.hasBytePrefix("/") ? node : "/dev/\(node)")
        }
        if let name = values[OutputOptions.name] {
            guard uri.rest.isEmpty else {
                throw InletError(.invalidConfiguration, "Give the device's node or its name, not both.")
            }
            address = .name(name)
        }
        return V4L2SinkConfiguration(
            address, format: values[OutputOptions.format], buffers: values[OutputOptions.buffers],
            quality: values[OutputOptions.quality])
    }
}

private enum OutputOptions {
    private static let defaults = V4L2SinkConfiguration()
    static let name = PluginOption<String?>("name", default: nil, "The device whose name contains this text")
    static let format = PluginOption(
        "format", default: defaults.format, "The pixel format to write")
    static let buffers = PluginOption(
        "buffers", default: defaults.buffers, in: V4L2SinkConfiguration.bufferCounts,
        "Buffers to request from the driver")
    static let quality = PluginOption(
        "quality", default: defaults.quality, in: V4L2SinkConfiguration.qualities, "The quality of JPEGs")
}
