public import InletCore
import InletV4L2

extension SourcePlugin {
    /// The plug-in for `v4l2:`: cameras and capture devices on Linux.
    public static let v4l2 = SourcePlugin(
        PluginInfo(
            name: "v4l2", schemes: ["v4l2"], summary: "USB webcams and other Linux cameras (Video4Linux 2).",
            usage:
                "v4l2:, v4l2:/dev/video2, v4l2:?id=..., v4l2:?name=... or v4l2:?path=...; `inlet devices` lists them",
            options: [
                CameraOptions.id.description, CameraOptions.name.description, CameraOptions.path.description,
                CameraOptions.size.description, CameraOptions.fps.description, CameraOptions.format.description,
                CameraOptions.input.description, CameraOptions.controls.description, CameraOptions.range.description,
                CameraOptions.matrix.description, CameraOptions.damage.description, CameraOptions.shutter.description,
                CameraOptions.buffers.description,
                CameraOptions.copies.description, CameraOptions.io.description, CameraOptions.maximumLag.description,
                CameraOptions.decoder.description,
            ],
            examples: [
                "v4l2:", "v4l2:/dev/video2?size=1280x720&fps=30", "v4l2:?name=C920&format=MJPG",
                "v4l2:?controls=exposure_dynamic_framerate=0,brightness=140",
            ])
    ) { uri, values in
        var configuration = V4L2Configuration(try address(uri, values))
        configuration.size = values[CameraOptions.size]
        configuration.frameRate = values[CameraOptions.fps]
        configuration.format = values[CameraOptions.format].flatMap { FourCC($0) }
        configuration.input = values[CameraOptions.input]
        configuration.controls = values[CameraOptions.controls] ?? ""
        configuration.range = values[CameraOptions.range].range
        configuration.matrix = values[CameraOptions.matrix].matrix
        configuration.damage = values[CameraOptions.damage]
        configuration.shutter = values[CameraOptions.shutter]
        configuration.buffers = values[CameraOptions.buffers]
        configuration.copies = values[CameraOptions.copies]
        configuration.method = values[CameraOptions.io]
        configuration.maximumLag = values[CameraOptions.maximumLag]
        configuration.decoder = values[CameraOptions.decoder]
        return configuration
    }

    private static func address(_ uri: PluginURI, _ values: PluginOptionValues) throws(InletError) -> V4L2Address {
        var found: [V4L2Address] = []
        if !uri.rest.isEmpty {
            // Users also try `v4l2:2` and `v4l2:video2`.
            let node = Int(uri.rest) != nil ? "/dev/video\(uri.rest)" : uri.rest
            found.append(.node(node.hasBytePrefix("/") ? node : "/dev/\(node)"))
        }
        if let id = values[CameraOptions.id] { found.append(.id(id)) }
        if let name = values[CameraOptions.name] { found.append(.name(name)) }
        if let path = values[CameraOptions.path] { found.append(.path(path)) }
        guard found.count <= 1 else {
            throw InletError(
                .invalidConfiguration, "Give only one of the camera's node, id, name or path.")
        }
        return found.first ?? .first
    }
}

private enum CameraOptions {
    private static let defaults = V4L2Configuration()
    static let id = PluginOption<String?>(
        "id", default: nil, "The camera with this link in /dev/v4l/by-id, or this serial number")
    static let name = PluginOption<String?>("name", default: nil, "The camera whose name contains this text")
    static let path = PluginOption<String?>(
        "path", default: nil,
        "The camera with this link in /dev/v4l/by-path, or at this bus position as the driver reports it"
    )
    static let size = PluginOption<ImageSize?>(
        "size", default: nil, "Picture size; by default the one near 1280x720 with the highest rate", unit: "pixels",
        range: "1x1 to 32768x32768"
    ) { $0?.isValid ?? true }
    static let fps = PluginOption<Rational?>(
        "fps", default: nil, "Frame rate; by default the highest", range: "above 0"
    ) { ($0 ?? Rational(1)) > Rational(0) }
    static let format = PluginOption<String?>(
        "format", default: nil, "Pixel format, such as YUYV or MJPG; by default the cheapest",
        range: "four letters"
    ) { $0.map { FourCC($0) != nil } ?? true }
    static let input = PluginOption<Int?>(
        "input", default: nil, "The input of a device with several inputs", range: "0 to 31"
    ) { (0...31).contains($0 ?? 0) }
    static let controls = PluginOption<String?>(
        "controls", default: nil, "Controls to set, as name=value joined by commas; `inlet controls` lists them")
    static let range = PluginOption(
        "range", default: RangeChoice.auto, "Whether black is 16 (tv) or 0 (pc); auto uses the driver's value")
    static let matrix = PluginOption(
        "matrix", default: MatrixChoice.auto, "The matrix from RGB to luma and chroma; auto uses the driver's value")
    static let damage = PluginOption(
        "damage", default: defaults.damage, "The handling of damaged pictures")
    static let shutter = PluginOption(
        "shutter", default: defaults.shutter, "The handling of pictures while the camera's shutter is closed")
    static let buffers = PluginOption(
        "buffers", default: defaults.buffers, in: V4L2Configuration.bufferCounts, "Buffers to request from the driver"
    )
    static let copies = PluginOption(
        "copies", default: defaults.copies, in: V4L2Configuration.copyCounts,
        "Pictures that may be held as copies when the driver would run out of buffers")
    static let io = PluginOption(
        "io", default: defaults.method, "How pictures are transferred from the driver to the process")
    static let maximumLag = PluginOption(
        "maximum-lag", default: defaults.maximumLag, in: .zero ... .seconds(60),
        "The longest time from a compressed picture's arrival to the decoded picture; later ones are skipped; 0 is no limit"
    )
    static let decoder = PluginOption<String?>(
        "decoder", default: nil,
        "The decoder to try first, if the camera compresses; by default turbojpeg for Motion JPEG")

    enum RangeChoice: String, ChoiceOptionValue {
        case auto, tv, pc
        var range: ColorRange? {
            switch self {
            case .auto: nil
            case .tv: .limited
            case .pc: .full
            }
        }
    }

    enum MatrixChoice: String, ChoiceOptionValue {
        case auto
        case bt601 = "601"
        case bt709 = "709"
        case bt2020 = "2020"
        var matrix: ColorMatrix? {
            switch self {
            case .auto: nil
            case .bt601: .smpte170m
            case .bt709: .bt709
            case .bt2020: .bt2020
            }
        }
    }
}
