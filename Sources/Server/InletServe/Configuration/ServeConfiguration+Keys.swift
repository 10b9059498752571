import InletCapture
import InletCore
import InletHTTPServer

extension ConfigurationShape {
    /// A whole configuration.
    package static let configuration = ConfigurationShape.object([
        ConfigurationKey("server", "The address of the page and the API, and the access to them", .object(serverKeys)),
        ConfigurationKey("defaults", "The settings for all cameras that do not override them", .object(defaultKeys)),
        ConfigurationKey("cameras", "The cameras by name", isRequired: true, cameras),
        ConfigurationKey(
            "budget", "The limits for all cameras together; a camera beyond them is refused", default: "no limit",
            .object([
                ConfigurationKey(
                    "cores",
                    "The number of cores for all cameras: beyond it, cameras of the lowest priority do less first",
                    default: "no limit", .scalar(.cores)),
                ConfigurationKey(
                    "memory", "The limit in bytes for the sum of the memory limits of the cameras' own processes",
                    default: "no limit", .scalar(.bytes)),
            ])),
        ConfigurationKey(
            "webhooks", "The servers that receive events by POST, by name", default: "none",
            .map(what: "webhook", names: CameraName.rule, .object(webhookKeys), most: 32)),
    ])

    /// The cameras that the API and the overlay change, by name; null removes a camera.
    package static let cameras = ConfigurationShape.map(
        what: "camera", names: CameraName.rule, camera, most: ServeConfiguration.mostCameras)

    /// A camera: the URI of its source, or keys.
    package static let camera = ConfigurationShape.scalarOrObject(
        .uri("the URI of a source, such as rtsp://camera/main"),
        [
            ConfigurationKey(
                "source", "The URI of the source, such as rtsp://camera/main", isRequired: true,
                synonyms: ["url", "uri", "address", "input", "stream", "streams", "path"],
                .scalar(.uri("the URI of a source, such as rtsp://camera/main")))
        ]
            + defaultKeys)

    private static let defaultKeys = [
        ConfigurationKey(
            "sinks", "The sinks by URI, in which {camera} is replaced by the camera's name", default: "none",
            .list(sink, most: 32)),
        ConfigurationKey(
            "retry", "How often in a row a failed source is reopened: never, forever or a number",
            default: "forever", .scalar(.repetition)),
        ConfigurationKey(
            "timeout", "The longest time to open the source, and between frames", default: "10s",
            .scalar(.time)),
        ConfigurationKey(
            "maximum-lag",
            "The longest time from a packet's arrival to its picture, for sources with that option, unless the URI sets it",
            default: "250ms", .scalar(.lag)),
        ConfigurationKey(
            "give-up", "The time without a frame after which the camera fails", default: "never", .scalar(.time)),
        ConfigurationKey(
            "outage", "The placeholder for sinks while there are no frames", default: "none",
            .scalar(.choice(OutagePolicy.Picture.allCases.map(\.rawValue)))),
        ConfigurationKey(
            "queue", "The policy for a sink that is slower than the source: latest, buffered:N or lossless:N",
            default: "latest for live sources, lossless for others", .scalar(.queue)),
        ConfigurationKey(
            "sink-retry", "How often in a row a failed sink is restarted: never, forever or a number",
            default: "forever", .scalar(.repetition)),
        ConfigurationKey(
            "on-demand", "Whether the source is closed without viewers; a time states after how long (true: 10s)",
            default: "false", .scalar(.onDemand)),
        ConfigurationKey(
            "process",
            "The process that reads and decodes the source: own is a separate one, so a crash affects only this camera",
            default: "shared", .scalar(.choice(ProcessPolicy.words))),
        ConfigurationKey(
            "memory", "The memory limit of the camera's own process in bytes; beyond it, the process is ended",
            default: "no limit", .scalar(.bytes)),
        ConfigurationKey(
            "priority", "The importance of the camera relative to others if the budget of cores is exceeded",
            default: "normal", .scalar(.choice(CameraPriority.allCases.map(\.rawValue)))),
        ConfigurationKey(
            "degrade",
            "The qualities that the camera may then lose, in order: rate, size, key-frames, pause; [] for none",
            default: "rate, size, key-frames",
            .list(.scalar(.choice(DegradeChoice.allCases.map(\.rawValue))), most: DegradeChoice.allCases.count)),
        ConfigurationKey("view", "The pictures of the page and the API", .object(viewKeys)),
        ConfigurationKey(
            "record", "The recordings on request, which begin before the request",
            example: "record: {folder: /srv/recordings, after: 30s}", synonyms: ["recording", "recordings"],
            .object(recordKeys)),
    ]

    private static let sink = ConfigurationShape.scalarOrObject(
        .uri("the URI of a sink, such as mp4:/srv/{camera}-{n}.mp4"),
        [
            ConfigurationKey(
                "uri", "The URI of the sink", isRequired: true,
                .scalar(.uri("the URI of a sink, such as mp4:/srv/{camera}-{n}.mp4"))),
            ConfigurationKey("queue", "As for the camera, but only for this sink", .scalar(.queue)),
            ConfigurationKey("retry", "As sink-retry of the camera, but only for this sink", .scalar(.repetition)),
        ])

    private static let viewKeys = [
        ConfigurationKey("max-size", "Larger pictures are scaled down to fit", default: "1280x720", .scalar(.size)),
        ConfigurationKey("max-fps", "The maximum frame rate", default: "10", .scalar(.rate)),
        ConfigurationKey("quality", "The quality of the JPEGs", default: "75", .scalar(.integer(1...100))),
    ]

    private static let recordKeys = [
        ConfigurationKey(
            "folder", "The folder, in which each camera gets a subfolder", default: "none, and nothing is recorded",
            .scalar(.path)),
        ConfigurationKey("before", "How long before the request a recording begins", default: "10s", .scalar(.time)),
        ConfigurationKey(
            "after", "How long after the request a recording ends, unless the request states it", default: "30s",
            .scalar(.time)),
        ConfigurationKey("longest", "The longest recording", default: "1h", .scalar(.time)),
        ConfigurationKey(
            "memory", "The limit in bytes of the packets kept for the time before the request", default: "32M",
            .scalar(.bytes)),
        ConfigurationKey(
            "keep-size", "The limit in bytes of all recordings of the camera; beyond it, the oldest are deleted",
            default: "10G", .scalar(.bytes)),
        ConfigurationKey(
            "events", "The kinds of events of the camera that start a recording", default: "none",
            .list(.scalar(.eventKind), most: 32)),
    ]

    private static let serverKeys = [
        ConfigurationKey(
            "listen", "HOST:PORT to listen on; 0.0.0.0 or :: for all addresses of this machine",
            default: "127.0.0.1:8080", synonyms: ["port", "host", "bind", "address"], .scalar(.listen)),
        ConfigurationKey(
            "tls", "The certificate and the key for HTTPS; they are read again when their files change",
            default: "none, for plain HTTP",
            .object([
                ConfigurationKey(
                    "certificate", "The PEM file of the certificate and its intermediate certificates",
                    isRequired: true, .scalar(.path)),
                ConfigurationKey(
                    "key", "The PEM file of the private key, which other users must not be able to read",
                    isRequired: true, .scalar(.path)),
            ])),
        ConfigurationKey(
            "streams", "The maximum number of streams at a time, for all cameras", default: "64",
            .scalar(.integer(1...1024))),
        ConfigurationKey(
            "webrtc", "How cameras are sent by WebRTC: the options of the sink webrtc:, such as webrtc:?viewers=20",
            default: "webrtc:", .scalar(.uri("webrtc: with options, such as webrtc:?max-size=1920x1080"))),
        ConfigurationKey(
            "restream",
            "HOST:PORT at which other programs read all cameras by RTSP, as rtsp://HOST:PORT/NAME, packets unchanged",
            default: "none", .scalar(.listen)),
        ConfigurationKey(
            "requests", "The limit of requests a second; five seconds' worth may arrive at once; 0 for no limit",
            .object([
                ConfigurationKey(
                    "per-client", "From one address, or one IPv6 network (/64)", default: "100",
                    .scalar(.integer(0...100_000))),
                ConfigurationKey("per-token", "With one token", default: "500", .scalar(.integer(0...100_000))),
            ])),
        ConfigurationKey(
            "base-path", "The path under which a reverse proxy serves the page without removing it, such as /cams",
            default: "none", .scalar(.basePath)),
        ConfigurationKey(
            "trusted-proxies",
            "Addresses or networks of reverse proxies, whose X-Forwarded-For or Forwarded states a client's address",
            default: "none", .list(.scalar(.network), most: 32)),
        ConfigurationKey(
            "audit", "The file to which each change is appended as a line of JSON", default: "only the log",
            .scalar(.path)),
        ConfigurationKey(
            "tokens", "The tokens by name, each with its permissions",
            default: "none at a loopback address, and one generated for the run at others",
            .map(what: "token", names: CameraName.rule, .object(tokenKeys), most: 64)),
    ]

    private static let tokenKeys = [
        ConfigurationKey(
            "scope", "The permissions: view, control, or admin, each including those before it", isRequired: true,
            .scalar(.choice(AccessScope.allCases.map(\.rawValue)))),
        ConfigurationKey(
            "cameras", "The names of the cameras that it allows, with * for any characters", default: "all",
            .list(.scalar(.cameraPattern), most: 256)),
        ConfigurationKey("file", "The file that holds the token in one line", .scalar(.path)),
        ConfigurationKey("env", "The environment variable that holds the token", .scalar(.path)),
        ConfigurationKey(
            "credential", "The systemd credential that holds the token (LoadCredential=)", .scalar(.path)),
    ]

    private static let webhookKeys = [
        ConfigurationKey(
            "url", "The address to which events are posted, or its location if it is a secret", isRequired: true,
            .scalarOrObject(
                .uri("an address such as https://host/path"),
                [
                    ConfigurationKey("file", "The file that holds the address in one line", .scalar(.path)),
                    ConfigurationKey("env", "The environment variable that holds the address", .scalar(.path)),
                    ConfigurationKey(
                        "credential", "The systemd credential that holds the address", .scalar(.path)),
                ])),
        ConfigurationKey(
            "kinds", "The kinds of events that are sent, as in /v1/events", default: "all",
            .list(.scalar(.eventKind), most: 32)),
        ConfigurationKey(
            "cameras", "The names of the cameras whose events are sent, with * for any characters",
            default: "all, and events that concern no camera", .list(.scalar(.cameraPattern), most: 256)),
        ConfigurationKey(
            "secret", "The location of the secret that signs requests", default: "none, and no signature",
            .object([
                ConfigurationKey("file", "The file that holds the secret in one line", .scalar(.path)),
                ConfigurationKey("env", "The environment variable that holds the secret", .scalar(.path)),
                ConfigurationKey("credential", "The systemd credential that holds the secret", .scalar(.path)),
            ])),
        ConfigurationKey("ca", "The PEM file of certificate authorities", default: "the system's", .scalar(.path)),
        ConfigurationKey(
            "timeout", "The longest time for a request, up to the status of the response", default: "10s",
            .scalar(.time)),
        ConfigurationKey(
            "attempts", "How often an event is sent before it is given up", default: "10",
            .scalar(.integer(1...100))),
        ConfigurationKey(
            "queue", "The maximum number of waiting events; beyond it, the oldest is dropped", default: "256",
            .scalar(.integer(1...4096))),
    ]
}
