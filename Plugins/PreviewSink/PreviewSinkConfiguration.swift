public import InletCore
import InletHTTP

/// A web page with the live picture and the capture's statistics: `preview:`, at http://127.0.0.1:8090/.
///
/// It also serves `/stream.mjpg`, `/snapshot.jpg`, `/stats.json`, `/metrics` for Prometheus, and `/healthz`. Each frame
/// is encoded once, however many clients watch, and only while one does.
public struct PreviewSinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The address to listen at. The default is 127.0.0.1: this machine alone.
    public var host: String
    /// The port; 0 lets the system choose one, which is logged. The default is 8090.
    public var port: Int
    /// The token that every client must present: as `?token=` or as a bearer token. The default, nil, requires none at
    /// a loopback address; at any other a token is generated and logged with the page's address.
    public var token: String?
    /// The largest pictures; larger ones are scaled down. The default is 1280x720.
    public var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default, nil, is no limit.
    public var frameRate: Rational?
    /// The quality of the JPEGs, from 1 to 100. The default is 75.
    public var quality = 75
    /// The most streams at a time, from 1 to 1024; more are refused. The default is 64.
    public var clients = 64
    /// How long a client may take to read one picture or response before it is disconnected. The default is 5 seconds.
    public var patience = Duration.seconds(5)
    /// The filters for pictures that they would change. The default is all.
    public var filters = PictureFilters.all

    public init(host: String = "127.0.0.1", port: Int = 8090, token: String? = nil) {
        self.host = host
        self.port = port
        self.token = token
    }

    /// The sink's URI.
    public var redactedURI: String { "preview:\(host.contains(byte: ":") ? "[\(host)]" : host):\(port)" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { PreviewSink(self) }

    /// The rule for who may watch.
    var access: AccessRule { AccessRule(host: host, port: port, token: token) }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the token is too short.
    public func validate() throws(InletError) { try access.validate() }
}

extension SinkPlugin {
    /// The plug-in for `preview:[HOST:PORT]`.
    public static let preview = SinkPlugin(
        PluginInfo(
            name: "PreviewSink", schemes: ["preview"],
            summary: "A web page with the live picture and the figures of the capture.",
            usage: "preview:[HOST:PORT], by default \(PreviewOptions.defaults.host):\(PreviewOptions.defaults.port)",
            options: [
                PreviewOptions.token.description, PreviewOptions.largest.description,
                PreviewOptions.maximumRate.description,
                PreviewOptions.quality.description, PreviewOptions.clients.description,
                PreviewOptions.patience.description,
            ] + PreviewOptions.filters.descriptions,
            examples: [
                "preview:", "preview:127.0.0.1:9000?max-fps=10", "preview:0.0.0.0:8090",
                "preview:0.0.0.0:8090?token-file=/run/secrets/preview",
            ])
    ) { uri, values in
        var configuration = try PreviewSinkConfiguration(address: uri.rest)
        configuration.token = values[PreviewOptions.token]
        configuration.largestSize = values[PreviewOptions.largest]
        configuration.frameRate = values[PreviewOptions.maximumRate]
        configuration.quality = values[PreviewOptions.quality]
        configuration.clients = values[PreviewOptions.clients]
        configuration.patience = values[PreviewOptions.patience]
        configuration.filters = PreviewOptions.filters.value(in: values)
        try configuration.validate()
        return configuration
    }
}

extension PreviewSinkConfiguration {
    /// Reads `HOST:PORT`, `HOST`, `PORT`, `:PORT`, `[::1]:PORT` or nothing.
    init(address: String) throws(InletError) {
        self.init()
        let place = try ListenAddress(address, scheme: "preview")
        host = place.host ?? host
        port = place.port ?? port
    }
}

private enum PreviewOptions {
    static let defaults = PreviewSinkConfiguration()
    static let filters = PictureFilterOptions(default: defaults.filters)
    static let token = PluginOption.secret(
        "token", "What everyone must show; made where others reach the server and none is given")
    static let largest = PluginOption(
        "max-size", default: defaults.largestSize,
        in: ImageSize(width: 64, height: 64)...ImageSize(width: 7680, height: 7680),
        "Scale larger pictures down to fit",
        unit: "pixels"
    ).formerly("largest")
    static let maximumRate = PluginOption<Rational?>(
        "max-fps", default: nil, "The most pictures a second", range: "above 0 to 240",
        isAllowed: { $0.map { $0 > Rational(0) && $0 <= Rational(240) } ?? true }
    ).formerly("fps")
    static let quality = PluginOption("quality", default: defaults.quality, in: 1...100, "Of the JPEGs")
    static let clients = PluginOption("clients", default: defaults.clients, in: 1...1024, "The most streams at a time")
    static let patience = PluginOption(
        "patience", default: defaults.patience, in: .milliseconds(100)...(.seconds(60)),
        "How long a client may take for a picture before it is cut off")
}
